/* Draws the figures of a report from the data in the page. Needs echarts; asks for nothing. */
(function () {
  'use strict';
  let study = JSON.parse(document.getElementById('study').textContent);
  const dark = matchMedia('(prefers-color-scheme: dark)');
  let printing = false;

  /* Okabe and Ito's palette: colour-blind readers tell it apart; a shape says the same. */
  const light = { feasible: '#0072B2', infeasible: '#8a8a8a', front: '#009E73', proposed: '#D55E00', optimum: '#CC79A7', line: '#0072B2', second_line: '#B87800', reference: '#666666', bar: '#0072B2' };
  const night = { feasible: '#56B4E9', infeasible: '#9a9a9a', front: '#00C795', proposed: '#FF8A3D', optimum: '#E8A0CB', line: '#56B4E9', second_line: '#E69F00', reference: '#b0b0b0', bar: '#56B4E9' };
  const stack = ['#0072B2', '#E69F00', '#009E73', '#CC79A7', '#56B4E9', '#D55E00', '#F0E442', '#999999'];
  const shapes = { feasible: 'circle', infeasible: 'path://M1 0L5 4L9 0L10 1L6 5L10 9L9 10L5 6L1 10L0 9L4 5L0 1Z', front: 'rect', proposed: 'triangle', optimum: 'diamond', line: 'circle', second_line: 'rect', reference: 'none' };
  const sizes = { feasible: 6, infeasible: 7, front: 8, proposed: 15, optimum: 17, line: 8, second_line: 8, reference: 0 };
  const isLine = (role) => role === 'line' || role === 'second_line' || role === 'reference';

  const isDark = () => dark.matches && !printing;
  const ink = () => (isDark() ? { text: '#e8eaed', soft: '#a3abb5', rule: '#363c44', paper: '#14171b' } : { text: '#1b1f24', soft: '#57606a', rule: '#dfe3e8', paper: '#ffffff' });
  const colour = (role) => (isDark() ? night : light)[role];
  const escape = (text) => String(text).replace(/[&<>"']/g, (c) => ({ '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' })[c]);
  const prefixes = [[1e12, 'T'], [1e9, 'G'], [1e6, 'M'], [1e3, 'k'], [1, ''], [1e-3, 'm'], [1e-6, 'µ'], [1e-9, 'n'], [1e-12, 'p']];
  function short(value) {
    if (value === 0 || value === null || !isFinite(value)) return value === 0 ? '0' : '–';
    for (const [size, letter] of prefixes) if (Math.abs(value) >= size * 0.9995) return +(value / size).toPrecision(3) + (letter ? ' ' + letter : '');
    return value.toPrecision(3);
  }
  const isShare = (column) => column.name.endsWith('_frac');
  const number = (column) => (isShare(column) ? (value) => +(100 * value).toPrecision(3) + ' %' : short);
  const shown = (column, value) => (value === null || value === undefined ? 'not known' : column.labels ? column.labels[value] : number(column)(value));

  function designText(index) {
    if (index === undefined || index < 0) return '';
    const row = study.designs.rows[index];
    const values = [];
    for (let p = 1; p < row.length; p++) if (row[p] !== null) values.push(escape(study.designs.parameters[p - 1]) + ' <b>' + escape(study.designs.values[p - 1][row[p]]) + '</b>');
    return '<br>design <b>' + escape(row[0]) + '</b><br><span class="small">' + values.join('<br>') + '</span>';
  }
  function tip(figure, series, place, value, columns) {
    let text = '<b>' + escape(series.name) + '</b>';
    if (series.notes && series.notes[place]) text += '<br>' + escape(series.notes[place]);
    columns.forEach((c, i) => { text += '<br>' + escape(c.label) + ' <b>' + escape(shown(c, value[i])) + '</b>'; });
    return text + designText(series.designs && series.designs[place]);
  }

  // As the page draws it: the plotting library's own measure knows other fonts than some browsers have.
  const ruler = Object.assign(document.createElement('span'), { ariaHidden: 'true' });
  Object.assign(ruler.style, { position: 'absolute', visibility: 'hidden', whiteSpace: 'pre', fontFamily: 'system-ui, sans-serif', fontSize: '12px' });
  function widthOf(text) {
    if (!ruler.isConnected) document.body.append(ruler);
    ruler.textContent = text;
    return ruler.getBoundingClientRect().width;
  }
  function cutTo(text, width) {
    if (widthOf(text) <= width) return text;
    let kept = text.length;
    while (kept > 1 && widthOf(text.slice(0, kept) + '…') > width) kept--;
    return text.slice(0, kept) + '…';
  }

  function base() {
    const k = ink();
    return {
      animation: false, aria: { enabled: false }, backgroundColor: 'transparent', textStyle: { fontFamily: 'system-ui, sans-serif', color: k.text },
      tooltip: { confine: true, backgroundColor: k.paper, borderColor: k.rule, textStyle: { color: k.text, fontSize: 12 }, extraCssText: 'max-width:min(22rem,90vw);white-space:normal;overflow-wrap:anywhere' },
      legend: { show: false },
    };
  }
  function axis(column, more) {
    const k = ink();
    return Object.assign({
      type: column.logarithmic ? 'log' : 'value', minInterval: column.whole ? 1 : 0, name: column.label, nameLocation: 'middle', scale: true, nameTextStyle: { color: k.soft },
      axisLabel: { color: k.soft, formatter: number(column), hideOverlap: true }, axisLine: { show: true, lineStyle: { color: k.soft } }, splitLine: { lineStyle: { color: k.rule } }, minorSplitLine: { show: false },
    }, more);
  }
  function bounds(values, column) {
    const logarithmic = column.logarithmic;
    const known = values.concat(column.range || []).filter((v) => v !== null && v !== undefined && isFinite(v) && (!logarithmic || v > 0));
    if (!known.length) return logarithmic ? [1, 10] : [0, 1];
    let low = known[0], high = known[0];
    for (const v of known) { low = Math.min(low, v); high = Math.max(high, v); }
    if (logarithmic) { const f = low === high ? 2 : Math.pow(high / low, 0.04); return [low / f, high * f]; }
    const gap = low === high ? Math.abs(low) || 1 : (high - low) * 0.04;
    return [low >= 0 && low - gap < 0 ? 0 : low - gap, high + gap];
  }

  function pointsOption(figure, panel, state) {
    const cx = figure.columns[state.x], cy = figure.columns[state.y];
    /* Infeasible points far from all others do not stretch the axes: they stand at the edge. */
    const all = (c) => {
      const of = (infeasible) => panel.series.filter((s) => (s.role === 'infeasible') === infeasible).flatMap((s) => s.values.map((v) => v[c])).filter((v) => v !== null);
      const others = of(false).concat(figure.columns[c].range || []);
      if (!others.length) return of(true);
      const [low, high] = others.reduce(([l, h], v) => [Math.min(l, v), Math.max(h, v)], [others[0], others[0]]);
      return low > 0 ? others.concat(of(true).filter((v) => v >= low / figure.infeasible_room && v <= high * figure.infeasible_room)) : others.concat(of(true));
    };
    const bx = bounds(all(state.x), cx), by = bounds(all(state.y), cy);
    const within = (value, range) => (value === null ? range[1] : Math.min(Math.max(value, range[0]), range[1]));
    const option = base();
    option.grid = { left: 62, right: 18, top: 16, bottom: 52 };
    option.xAxis = axis(cx, { nameGap: 30, min: bx[0], max: bx[1], axisLabel: { color: ink().soft, formatter: number(cx), hideOverlap: true, showMinLabel: false, showMaxLabel: false } });
    option.yAxis = axis(cy, { nameGap: 46, min: by[0], max: by[1], axisLabel: { color: ink().soft, formatter: number(cy), showMinLabel: false, showMaxLabel: false } });
    let dashes = 0;
    option.series = panel.series.filter((s) => s.values.length).map((s) => {
      const line = isLine(s.role);
      const data = [];
      s.values.forEach((v, place) => {
        if (v[state.x] === null && v[state.y] === null) return;
        data.push({ value: [within(v[state.x], bx), within(v[state.y], by)], place });
      });
      const dash = s.role === 'reference' ? [[6, 4], [2, 3], [10, 3, 2, 3]][dashes++ % 3] : 'solid';
      return {
        name: s.name, type: line ? 'line' : 'scatter', data, symbol: shapes[s.role], symbolSize: sizes[s.role], clip: false, z: { infeasible: 2, feasible: 3, front: 4, proposed: 6, optimum: 7 }[s.role] || 1,
        itemStyle: { color: colour(s.role), opacity: s.role === 'infeasible' ? 0.45 : s.role === 'feasible' ? 0.6 : 1, borderColor: ink().paper, borderWidth: s.role === 'proposed' || s.role === 'optimum' ? 1.5 : 0 },
        lineStyle: { color: colour(s.role), width: 2, type: dash }, emphasis: { scale: 1.5 }, large: false,
        tooltip: { formatter: (p) => tip(figure, s, p.data.place, s.values[p.data.place], figure.columns) },
      };
    });
    return option;
  }

  function barsOption(figure, panel, state, box) {
    const option = base();
    const narrow = box.clientWidth < 560;
    box.style.height = Math.max(150, Math.min(760, 60 + panel.categories.length * (narrow ? 26 : 24))) + 'px';
    const labels = new Map(panel.categories.map((name) => [name, cutTo(name, narrow ? 120 : 240)]));
    const widest = Math.max(0, ...[...labels.values()].map(widthOf));
    option.grid = { left: Math.ceil(widest) + 16, right: 34, top: 10, bottom: 54 };
    option.tooltip.trigger = 'axis';
    option.tooltip.axisPointer = { type: 'shadow' };
    option.tooltip.formatter = (items) => '<b>' + escape(items[0].name) + '</b>' + items.filter((i) => i.value > 0).map((i) => '<br>' + i.marker + escape(i.seriesName) + ' <b>' + number(figure.columns[0])(i.value) + '</b>').join('');
    option.xAxis = axis(figure.columns[0], { nameGap: 24, scale: false });
    option.yAxis = { type: 'category', inverse: true, data: panel.categories, axisLabel: { color: ink().text, formatter: (name) => labels.get(name), interval: 0 }, axisTick: { show: false }, axisLine: { lineStyle: { color: ink().rule } } };
    option.series = panel.series.map((s, i) => ({
      name: s.name, type: 'bar', stack: 'all', barMaxWidth: 18, data: s.values.map((v) => v[0]), itemStyle: { color: panel.series.length > 1 ? stack[i % stack.length] : colour('bar'), borderColor: ink().paper, borderWidth: 0.5, decal: i >= 4 ? { symbol: 'rect', dashArrayX: [1, 0], dashArrayY: [2, 4], rotation: 0.785, color: 'rgba(0,0,0,.25)' } : undefined },
    }));
    return option;
  }

  function parallelOption(figure, panel, state, box) {
    const option = base();
    const k = ink();
    const tall = box.clientWidth < 700;
    box.style.height = tall ? 90 + figure.columns.length * 46 + 'px' : '';
    option.parallel = tall ? { layout: 'vertical', left: 18, right: 26, top: 30, bottom: 24 } : { left: 40, right: 70, top: 92, bottom: 26 };
    option.parallelAxis = figure.columns.map((c, dim) => ({
      dim, name: c.label, type: c.labels ? 'category' : c.logarithmic ? 'log' : 'value', data: c.labels, scale: true, nameLocation: 'end', nameGap: tall ? 0 : 12,
      nameTextStyle: tall ? { color: k.text, align: 'right', verticalAlign: 'bottom', padding: [0, 0, 7, 0], fontSize: 11 } : { color: k.text, rotate: 28, align: 'left', fontSize: 11 },
      axisLine: { lineStyle: { color: k.soft } }, axisLabel: { color: k.soft, fontSize: 10, formatter: c.labels ? undefined : number(c), hideOverlap: true, showMinLabel: true },
      areaSelectStyle: { width: 18, borderColor: colour('proposed'), color: colour('proposed'), opacity: 0.35 },
    }));
    if (tall) option.parallelAxis.forEach((a) => { a.nameLocation = 'end'; });
    option.series = panel.series.filter((s) => s.values.length).map((s) => ({
      name: s.name, type: 'parallel', data: s.values.map((v) => v.map((x, c) => (x === null ? '-' : figure.columns[c].labels ? figure.columns[c].labels[x] : x))), smooth: false,
      lineStyle: { color: colour(s.role), width: s.role === 'front' ? 1.6 : 1, opacity: s.role === 'infeasible' ? 0.16 : s.role === 'feasible' ? 0.35 : 0.7, type: s.role === 'infeasible' ? [4, 3] : 'solid' }, inactiveOpacity: 0.03, activeOpacity: 0.85,
      itemStyle: { color: colour(s.role) },
      tooltip: { formatter: (p) => '<b>' + escape(s.name) + '</b>' + designText(s.designs && s.designs[p.dataIndex]) },
    }));
    return option;
  }
  const makers = { points: pointsOption, bars: barsOption, parallel: parallelOption };

  let views = [];
  function select(label, names, value, change) {
    const wrap = document.createElement('label');
    wrap.textContent = label;
    const list = document.createElement('select');
    names.forEach((name, i) => list.add(new Option(name, i)));
    list.value = value;
    list.addEventListener('change', () => change(+list.value));
    wrap.append(list);
    return wrap;
  }
  /* What marks mean, as buttons that take a series away and bring it back. */
  const outlines = { circle: '<circle cx="8" cy="7" r="4"/>', rect: '<rect x="4" y="3" width="8" height="8"/>', triangle: '<path d="M8 1l6 11H2z"/>', diamond: '<path d="M8 0l6 7-6 7-6-7z"/>', cross: '<path d="M4 3l8 8M12 3l-8 8" stroke-width="2"/>' };
  function drawLegend(view, panel) {
    const shownSeries = panel.series.filter((s) => s.values.length);
    view.legend.replaceChildren();
    if (shownSeries.length < 2) return;
    let dashes = 0;
    shownSeries.forEach((s) => {
      const button = document.createElement('button');
      const bars = view.figure.kind === 'bars';
      const tint = bars ? stack[panel.series.indexOf(s) % stack.length] : colour(s.role);
      const kind = bars ? 'rect' : s.role === 'infeasible' ? 'cross' : shapes[s.role];
      const line = isLine(s.role) || view.figure.kind === 'parallel';
      const dash = s.role === 'reference' ? ['6 4', '2 3', '10 3 2 3'][dashes++ % 3] : s.role === 'infeasible' ? '4 3' : '';
      const mark = line ? '<path d="M0 7h16" stroke-width="2.5" stroke-dasharray="' + dash + '"/>' : outlines[kind];
      button.type = 'button';
      button.setAttribute('aria-pressed', 'true');
      button.innerHTML = '<svg width="16" height="14" aria-hidden="true" fill="' + tint + '" stroke="' + (line || kind === 'cross' ? tint : 'none') + '">' + mark + '</svg>';
      button.append(s.name);
      button.addEventListener('click', () => {
        const on = button.getAttribute('aria-pressed') !== 'true';
        button.setAttribute('aria-pressed', String(on));
        if (on) view.state.hidden.delete(s.name); else view.state.hidden.add(s.name);
        view.chart.dispatchAction({ type: on ? 'legendSelect' : 'legendUnSelect', name: s.name });
      });
      if (view.state.hidden.has(s.name)) {
        button.setAttribute('aria-pressed', 'false');
        view.chart.dispatchAction({ type: 'legendUnSelect', name: s.name });
      }
      view.legend.append(button);
    });
  }
  function draw(view) {
    if (!view.chart) {
      view.chart = echarts.init(view.box, null, { renderer: 'svg' });
      view.chart.on('axisareaselected', (event) => { view.state.kept[event.parallelAxisId] = event.intervals; });
    }
    const panel = view.figure.panels[view.state.panel];
    const option = makers[view.figure.kind](view.figure, panel, view.state, view.box);
    view.chart.resize();
    view.chart.setOption(option, true);
    drawLegend(view, panel);
    Object.entries(view.state.kept).forEach(([id, intervals]) => { if (intervals.length) view.chart.dispatchAction({ type: 'axisAreaSelect', parallelAxisId: id, intervals }); });
    view.box.setAttribute('aria-label', view.figure.title + ' (' + panel.name + '). ' + panel.series.filter((s) => s.values.length).map((s) => s.name + ': ' + s.values.length).join(', ') + '.');
    view.drawn = true;
  }
  function addControls(view, place) {
    const { figure, state } = view;
    const redraw = () => draw(view);
    if (figure.panels.length > 1) place.append(select(study.designs.parameters.includes(figure.panels[0].name) ? 'Parameter' : 'Show', figure.panels.map((p) => p.name), state.panel, (i) => { state.panel = i; redraw(); }));
    if (figure.kind === 'points' && figure.columns.length > 2) {
      const labels = figure.columns.map((c) => c.label);
      place.append(select('Across', labels, state.x, (i) => { state.x = i; redraw(); }), select('Up', labels, state.y, (i) => { state.y = i; redraw(); }));
    }
    if (figure.kind === 'parallel') {
      const clear = document.createElement('button');
      clear.type = 'button';
      clear.textContent = 'Keep all designs';
      clear.addEventListener('click', () => { state.kept = {}; redraw(); });
      place.append(clear);
    }
  }
  const near = new IntersectionObserver((entries) => entries.forEach((entry) => {
    if (!entry.isIntersecting) return;
    const view = views.find((one) => one.box === entry.target);
    near.unobserve(entry.target);
    if (view && !view.drawn) draw(view);
  }), { rootMargin: '500px' });
  const sized = new ResizeObserver((entries) => entries.forEach((entry) => {
    const view = views.find((one) => one.home === entry.target);
    if (!view || !view.drawn || view.box.clientWidth === view.width) return;
    view.width = view.box.clientWidth;
    draw(view);
  }));
  /* What a reader chose in a figure, carried over to the same figure of newer data. */
  function stateOf(figure, earlier) {
    const state = { panel: 0, x: figure.x, y: figure.y, hidden: new Set(), kept: {} };
    if (!earlier) return state;
    const named = (list, name, otherwise) => { const at = list.findIndex((one) => one.name === name); return at < 0 ? otherwise : at; };
    const before = earlier.figure;
    state.panel = named(figure.panels, before.panels[earlier.state.panel].name, 0);
    state.x = named(figure.columns, before.columns[earlier.state.x].name, figure.x);
    if (before.columns.length > 1) state.y = named(figure.columns, before.columns[earlier.state.y].name, figure.y);
    state.hidden = earlier.state.hidden;
    if (before.columns.length === figure.columns.length) state.kept = earlier.state.kept;
    return state;
  }
  function build() {
    const earlier = views;
    views = study.sections.flatMap((section) => section.figures.map((figure) => {
      const home = document.querySelector('[data-figure="' + CSS.escape(figure.name) + '"]');
      const before = earlier.find((one) => one.figure.name === figure.name && one.figure.kind === figure.kind);
      return { figure, home, box: home.querySelector('.plot'), legend: home.querySelector('.legend'), state: stateOf(figure, before), chart: null, drawn: false, width: 0, wanted: before && before.drawn };
    }));
    earlier.forEach((view) => { if (view.chart) view.chart.dispose(); });
    near.disconnect();
    sized.disconnect();
    views.forEach((view) => {
      addControls(view, view.home.querySelector('.controls'));
      if (view.wanted) draw(view); else near.observe(view.box);
      sized.observe(view.home);
    });
  }
  const drawAll = () => views.forEach(draw);
  build();
  dark.addEventListener('change', () => views.filter((view) => view.drawn).forEach(draw));
  addEventListener('beforeprint', () => { printing = true; drawAll(); });
  addEventListener('afterprint', () => { printing = false; drawAll(); });
  /* replace: newer data for the figures that stand in the document now. */
  window.hindsightReport = { drawAll, get views() { return views; }, replace(next) { study = next; build(); } };
})();
