/* Keeps a page that `hindsight serve` sent up to date: listens for events, and takes newer parts when there are some. */
(function () {
  'use strict';
  const line = document.getElementById('live'), pause = document.getElementById('live-pause');
  const patience = 30000; // a reader who marks text or holds a list open is not disturbed for so long
  let shown = +line.parentElement.dataset.version, wanted = shown, taking = false, paused = false, since = 0, state = null;

  const many = (count, word) => count.toLocaleString('en-US') + ' ' + word + (count === 1 ? '' : 's');
  function ago(seconds) {
    if (seconds < 90) return Math.round(seconds) + ' s';
    return seconds < 5400 ? Math.round(seconds / 60) + ' min' : Math.round(seconds / 3600) + ' h';
  }
  function say(text, role) {
    if (line.textContent !== text) line.textContent = text;
    line.parentElement.dataset.state = role;
  }
  function tell() {
    if (!state) return;
    if (state.problem) return say(state.problem, 'problem');
    const words = [many(state.rows, 'row')];
    if (state.rows_per_s > 0) words.push(many(Math.round(state.rows_per_s), 'row') + '/s');
    state.running.forEach((run) => words.push(run.kind + ' (run ' + run.run + ')' + (run.progress ? ' ' + Math.floor(100 * run.progress) + ' %' : '')));
    if (!state.running.length) words.push('nothing runs');
    else if (state.quiet_s > 10) words.push('nothing new for ' + ago(state.quiet_s));
    say((paused ? 'paused · ' : 'live · ') + words.join(' · '), paused ? 'paused' : 'live');
  }
  const focused = () => {
    const one = document.activeElement, home = one && one.closest && one.closest('[data-figure]');
    if (!home) return null;
    // Among its like: a figure may get a list or lose one.
    return { figure: home.dataset.figure, tag: one.tagName, place: [...home.querySelectorAll(one.tagName)].indexOf(one) };
  };
  const busy = () => (document.activeElement && document.activeElement.tagName === 'SELECT') || !getSelection().isCollapsed;

  function put(parts) {
    const main = document.querySelector('main');
    const open = [...main.querySelectorAll('[data-figure]')].filter((one) => one.querySelector('details[open]')).map((one) => one.dataset.figure);
    const anchor = [...main.querySelectorAll('section,figure')].reverse().find((one) => one.id && one.getBoundingClientRect().top <= 80);
    const top = anchor ? anchor.getBoundingClientRect().top : null;
    const focus = focused();
    main.innerHTML = parts.main;
    document.querySelector('nav ul').innerHTML = parts.contents;
    open.forEach((name) => { const one = main.querySelector('[data-figure="' + CSS.escape(name) + '"] details'); if (one) one.open = true; });
    hindsightReport.replace(parts.study);
    if (focus) {
      const home = main.querySelector('[data-figure="' + CSS.escape(focus.figure) + '"]');
      const one = home && home.querySelectorAll(focus.tag)[focus.place];
      if (one) one.focus({ preventScroll: true });
    }
    const again = anchor && document.getElementById(anchor.id);
    if (again) scrollBy({ top: again.getBoundingClientRect().top - top, behavior: 'instant' });
  }
  async function take() {
    if (taking || paused || wanted === shown) return;
    if (!since) since = Date.now();
    if (busy() && Date.now() - since < patience) return;
    taking = true;
    try {
      const answer = await fetch('update' + location.search, { cache: 'no-store' });
      if (!answer.ok) throw new Error(answer.status);
      const parts = await answer.json();
      if (!paused) { put(parts); shown = +answer.headers.get('X-Hindsight-Version'); since = 0; }
    } catch (problem) {
      state = null;
      say('no answer from hindsight serve', 'problem');
    }
    taking = false;
  }
  pause.addEventListener('click', () => {
    paused = !paused;
    pause.textContent = paused ? 'Go on' : 'Pause';
    pause.setAttribute('aria-pressed', String(paused));
    tell();
    take();
  });
  const events = new EventSource('events' + location.search);
  events.addEventListener('state', (event) => {
    state = JSON.parse(event.data);
    wanted = state.version;
    tell();
    take();
  });
  events.onerror = () => { state = null; say('not connected: hindsight serve has ended, or is busy', 'problem'); };
  window.hindsightLive = { get shown() { return shown; }, get wanted() { return wanted; } };
})();
