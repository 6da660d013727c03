#!/usr/bin/env bash
# The results of the studies, file by file, and the Markdown table of each step. Sourced by scripts/studies.sh; reads CSV
# files of the folder that it stands in, and nothing else.

# files_of STEP: the results of a step; none of a step that only makes logs and models.
files_of() {
  case $1 in
    any | nine) ;;
    recipes) echo recipes.csv chosen.csv ;;
    few) echo few.csv few_best.csv ;;
    *) echo "$1.csv" ;;
  esac
}

# columns_of FILE: the names of its columns. Files of a study's folder have no line of them, recorded ones do.
columns_of() {
  local names="" best="best_of_10_over_optimum;infeasible_of_10;proposals_of_10"
  case $1 in
    regret.csv | single.csv | recipes.csv)
      names="model;task;first_over_optimum;best_of_10_over_optimum;infeasible;proposals;lifted;infeasible_without_bounds"
      names+=";proposals_without_bounds;infeasible_without_limits;proposals_without_limits" ;;
    chosen.csv) names="log;application;recipe" ;;
    accuracy.csv | distance.csv)
      names="network;designs;feasible;kendall_tau;median_error_frac;predicted_over_true_at_best;feasibility_auc"
      names+=";infeasible_when_sure_frac;distance" ;;
    outside.csv) names="model;area_limit_mm2;network;proposals;first_infeasible;infeasible;best_latency_ms" ;;
    swap.csv) names="network;proposed_for;rank;design;latency_s" ;;
    play.csv) names="log;task;recipe;taken;first_over_optimum;$best;${best//_10/_128};best_logged_over_optimum" ;;
    exact.csv) names="applications;limit;duration_s;designs;beyond_limits;bounded;judged;by_chance_over_best" ;;
    front.csv)
      names="model;application;exact_points;proposals_frac;as_many_exact_frac;random_frac;log_frac;proposals_below_2_frac"
      names+=";as_many_exact_below_2_frac;random_below_2_frac;log_below_2_frac;proposals;infeasible;dominated;from_log" ;;
    few.csv) names="target;rows;seed;model;first_proposal;moved" ;;
    few_best.csv) names="target;best_logged" ;;
    tables.csv | motifs.csv)
      names="cell,table,method,recipe,seed,train_rows,train_feasible,context,feasible_rows,optimum,best_training_ratio"
      names+=",unknown_frac,k,ratio,regret,rank,infeasible_frac" ;;
  esac
  echo "$names"
}

# lines FILE: its results, whether or not a line of names stands before them.
lines() { awk -v names="$(columns_of "${1##*/}")" '$0 != names && !/^#/' "$1"; }

# query FILE SQL: asks the table t of its columns, all of them texts or numbers as they look.
query() {
  local names separator=";"
  names=$(columns_of "$1")
  case $names in *";"*) ;; *) separator="," ;; esac
  { echo "$names"; lines "$1"; } | sqlite3 :memory: ".mode csv" ".separator $separator" ".import /dev/stdin t" \
    ".mode list" ".separator ' '" "$2"
}

table_regret() {
  echo "| model | tasks | first proposal over the optimum | best of ten | first proposals infeasible | of all |"
  echo "|:---|:---|---:|---:|---:|---:|"
  lines regret.csv | awk -F';' '
    { split($2, part, "/"); key = $1 ";" part[1]; n[key]++; first[key] += log($3); best[key] += log($4)
      lost[key] += ($3 == "3.000"); bad[key] += $5; all[key] += $6 }
    END { for (key in n) { split(key, part, ";")
          printf "| %s | %s | %.3f | %.3f | %d of %d | %d of %d |\n", part[1], part[2], exp(first[key] / n[key]),
                 exp(best[key] / n[key]), lost[key], n[key], bad[key], all[key] } }' | LC_ALL=C sort
  echo
  echo "| model | tasks | infeasible with the exact checks | without lower bounds |" \
    "without these and the limit of the area | predictions lifted |"
  echo "|:---|:---|---:|---:|---:|---:|"
  lines regret.csv | awk -F';' '
    { split($2, part, "/"); key = $1 ";" part[1]; bad[key] += $5; all[key] += $6; lifted[key] += $7
      free[key] += $8; frees[key] += $9; any[key] += $10; anys[key] += $11 }
    END { for (key in all) { split(key, part, ";")
          printf "| %s | %s | %d of %d | %d of %d | %d of %d | %d |\n", part[1], part[2], bad[key], all[key],
                 free[key], frees[key], any[key], anys[key], lifted[key] } }' | LC_ALL=C sort
}

table_single() {
  echo "| application | first proposal over the optimum, log 1 | 2 | 3 | best of ten, log 1 | 2 | 3 | infeasible of 30 |"
  echo "|:---|---:|---:|---:|---:|---:|---:|---:|"
  lines single.csv | awk -F';' '
    { split($1, part, "[/-]"); sub("single/", "", $2); if (!($2 in bad)) order[++tasks] = $2
      first[$2, part[2]] = $3; best[$2, part[2]] = $4; bad[$2] += $5
      n[part[2]]++; means[part[2]] += $3; bests[part[2]] += $4; all += $5; proposals += $6 }
    function mean(sum, count) { return count ? sum / count : 0 }
    END { for (t = 1; t <= tasks; ++t) { a = order[t]
            printf "| %s | %s | %s | %s | %s | %s | %s | %d |\n", a, first[a, 1], first[a, 2], first[a, 3],
                   best[a, 1], best[a, 2], best[a, 3], bad[a] }
          printf "| mean | %.3f | %.3f | %.3f | %.3f | %.3f | %.3f | %d of %d |\n", mean(means[1], n[1]), mean(means[2], n[2]),
                 mean(means[3], n[3]), mean(bests[1], n[1]), mean(bests[2], n[2]), mean(bests[3], n[3]), all, proposals }'
}

# Those that `train` chooses among compete for the regret of the choice; the others are for comparison.
candidates="layers margins trends plain pushed v0.1"

table_recipes() {
  echo "| recipe | logs and applications | first proposal over the optimum | best of ten | first proposals infeasible | of all |"
  echo "|:---|---:|---:|---:|---:|---:|"
  awk -F';' '
    function add(key, f) { if (!(key in n)) order[++keys] = key
                           n[key]++; first[key] += log(f[3]); best[key] += log(f[4]); lost[key] += (f[3] == "3.000")
                           bad[key] += f[5]; all[key] += f[6] }
    chosen { made = "recipes/" $1 "-" $3 "-" $2; if (made in line) { split(line[made], f, ";"); add("what `train` chooses", f) }
             next }
    { line[$1] = $0; split($1, part, "/"); key = part[2]; sub("^[0-9]+-", "", key); sub("-[^-]*$", "", key)
      split($0, f, ";"); add(key, f) }
    END { for (k = 1; k <= keys; ++k) { key = order[k]
          printf "| %s | %d | %.3f | %.3f | %d of %d | %d of %d |\n", key, n[key], exp(first[key] / n[key]),
                 exp(best[key] / n[key]), lost[key], n[key], bad[key], all[key] } }' \
    chosen=0 <(lines recipes.csv) chosen=1 <(lines chosen.csv)
  echo
  echo "| log | application | chosen | its first proposal over the optimum | the best candidate | its first | ratio |"
  echo "|---:|:---|:---|---:|:---|---:|---:|"
  awk -F';' -v candidates="$candidates" '
    !chosen { value[$1] = $3; next }
    { count = split(candidates, recipe, " "); best = ""
      for (r = 1; r <= count; ++r) { key = "recipes/" $1 "-" recipe[r] "-" $2
        if (key in value && (best == "" || value[key] < value["recipes/" $1 "-" best "-" $2])) best = recipe[r] }
      mine = value["recipes/" $1 "-" $3 "-" $2]; theirs = value["recipes/" $1 "-" best "-" $2]
      printf "| %s | %s | %s | %s | %s | %s | %.3f |\n", $1, $2, $3, mine, best, theirs, mine / theirs
      sum += log(mine / theirs); cells++ }
    END { printf "| | all | | | | | %.3f |\n", exp(sum / (cells ? cells : 1)) }' \
    chosen=0 <(lines recipes.csv) chosen=1 <(lines chosen.csv)
}

# scores_of_tables FILE SQL: asks the table s of methods on tables: medians over the seeds of what is proposed over the
# optimum.
scores_of_tables() {
  query "$1" "
    CREATE TABLE run AS SELECT \"table\" AS name, method, recipe, seed, k + 0 AS k, regret + 0 AS regret,
                               1 / (best_training_ratio + 0) AS best_row, infeasible_frac + 0 AS infeasible FROM t;
    CREATE TABLE middle AS
      SELECT name, method, k, avg(regret) AS regret FROM (
        SELECT *, row_number() OVER (PARTITION BY name, method, k ORDER BY regret) AS place,
                  count(*) OVER (PARTITION BY name, method, k) AS n FROM run)
       WHERE place IN ((n + 1) / 2, (n + 2) / 2) GROUP BY name, method, k;
    CREATE TABLE s AS
      SELECT r.name, r.method, min(r.rowid) AS place, avg(r.best_row) AS best_row,
             (SELECT regret FROM middle AS m WHERE m.name = r.name AND m.method = r.method AND k = 1) AS first,
             max(CASE WHEN k = 1 THEN regret END) AS worst,
             (SELECT regret FROM middle AS m WHERE m.name = r.name AND m.method = r.method AND k = 16) AS best_16,
             (SELECT regret FROM middle AS m WHERE m.name = r.name AND m.method = r.method AND k = 128) AS best_128,
             sum(k = 1 AND infeasible > 0) AS lost, sum(k = 1) AS firsts,
             avg(CASE WHEN k = 128 THEN infeasible END) AS bad
        FROM run AS r GROUP BY r.name, r.method;
    $2"
}

# tables_of_w50 FILE: of all tables, and of each.
tables_of_w50() {
  echo "| method | tables | first proposal over the optimum | best of 16 | best of 128 | first proposals infeasible |" \
    "of 128 | trained |"
  echo "|:---|---:|---:|---:|---:|---:|---:|:---|"
  scores_of_tables "$1" "
    SELECT printf('| %s | %d | %.3f | %.3f | %.3f | %d of %d | %.1f %% | %s |', method, count(*), exp(avg(ln(first))),
                  exp(avg(ln(best_16))), exp(avg(ln(best_128))), sum(lost), sum(firsts), 100 * avg(bad),
                  CASE WHEN method = 'default' THEN
                    (SELECT group_concat(times || ' ' || recipe, ', ') FROM (
                       SELECT recipe, count(*) AS times FROM run AS r WHERE r.method = 'default' AND k = 1
                        GROUP BY recipe ORDER BY times DESC, recipe)) ELSE '' END)
      FROM s GROUP BY method ORDER BY min(place)"
  echo
  echo "| table | method | best row learnt from | first proposal over the optimum, median | most | best of 16 | best of 128 |" \
    "first proposals infeasible | of 128 |"
  echo "|:---|:---|---:|---:|---:|---:|---:|---:|---:|"
  scores_of_tables "$1" "
    SELECT printf('| %s | %s | %.3f | %.3f | %.3f | %.3f | %.3f | %d of %d | %.1f %% |', name, method, best_row, first, worst,
                  best_16, best_128, lost, firsts, 100 * bad) FROM s ORDER BY place"
}

table_tables() { tables_of_w50 tables.csv; }
table_motifs() { tables_of_w50 motifs.csv; }

# scores FILE: how right a model is about networks, a line each.
scores() {
  echo "| network | designs | feasible | tau | median error | infeasible where p feasible >= 0.9 | distance |"
  echo "|:---|---:|---:|---:|---:|---:|---:|"
  query "$1" "
    SELECT printf('| %s | %,d | %,d | %s | %s | %s | %.2f |', network, designs, feasible,
                  CASE WHEN kendall_tau = '' THEN '' ELSE printf('%.3f', kendall_tau) END,
                  CASE WHEN median_error_frac = '' THEN '' ELSE printf('%.1f %%', 100 * median_error_frac) END,
                  CASE WHEN infeasible_when_sure_frac = '' THEN 'never that sure'
                       ELSE printf('%.1f %%', 100 * infeasible_when_sure_frac) END, distance) FROM t;
    SELECT printf('| mean of %d that ship and can be built | | | %.3f | %.1f %% | | |', count(*), avg(kendall_tau),
                  100 * avg(median_error_frac))
      FROM t WHERE kendall_tau <> '' AND network NOT LIKE 'outside!_%' ESCAPE '!' AND network NOT LIKE 'speech!_%' ESCAPE '!'
               AND network NOT LIKE 'synthetic%' HAVING count(*) > 0"
}

table_accuracy() { scores accuracy.csv; }

# Networks with fewer designs that can be built say little of ranks and medians.
most_feasible=2000

table_distance() {
  local known="SELECT network, distance + 0 AS distance, median_error_frac + 0 AS error, kendall_tau + 0 AS tau FROM t
                WHERE feasible + 0 >= $most_feasible AND kendall_tau <> ''"
  echo "| distance | networks (outside the families) | median error, median | range | tau, median | smallest |"
  echo "|:---|---:|---:|---:|---:|---:|"
  query distance.csv "
    WITH known AS ($known),
         band AS (SELECT *, (distance >= 0.35) + (distance >= 0.5) + (distance >= 0.7) AS band FROM known),
         placed AS (SELECT *, row_number() OVER (PARTITION BY band ORDER BY error) AS by_error,
                              row_number() OVER (PARTITION BY band ORDER BY tau) AS by_tau,
                              count(*) OVER (PARTITION BY band) AS n FROM band)
    SELECT printf('| %s | %d (%d) | %.1f %% | %.1f to %.1f %% | %.2f | %.2f |',
                  CASE band WHEN 0 THEN 'below 0.35' WHEN 1 THEN '0.35 to 0.5' WHEN 2 THEN '0.5 to 0.7' ELSE '0.7 and more' END,
                  count(*), sum(network LIKE 'outside!_%' ESCAPE '!'),
                  100 * avg(CASE WHEN by_error IN ((n + 1) / 2, (n + 2) / 2) THEN error END),
                  100 * min(error), 100 * max(error),
                  avg(CASE WHEN by_tau IN ((n + 1) / 2, (n + 2) / 2) THEN tau END), min(tau))
      FROM placed GROUP BY band ORDER BY band"
  echo
  query distance.csv "
    WITH known AS ($known),
         ranked AS (SELECT rank() OVER (ORDER BY distance) + (count(*) OVER (PARTITION BY distance) - 1) / 2.0 AS x,
                           rank() OVER (ORDER BY error) + (count(*) OVER (PARTITION BY error) - 1) / 2.0 AS y FROM known)
    SELECT printf('%d networks of which %,d designs or more can be built; rank correlation of distance and error' ||
                  ' %.2f (Spearman).', count(*), $most_feasible,
                  (count(*) * sum(x * y) - sum(x) * sum(y)) / nullif(
                    sqrt((count(*) * sum(x * x) - sum(x) * sum(x)) * (count(*) * sum(y * y) - sum(y) * sum(y))), 0))
      FROM ranked"
  echo
  scores distance.csv
}

table_outside() {
  echo "| model | networks and limits with proposals | first proposals that cannot be built | of all |" \
    "best of ten over the best of all models | most | which cannot be built |"
  echo "|:---|---:|---:|---:|---:|---:|:---|"
  awk -F';' '
    { key = $2 ";" $3 }
    first { if ($7 != "" && (!(key in best) || $7 < best[key])) best[key] = $7; next }
    { asked[$1]++; given[$1] += ($4 > 0); lost[$1] += $5; bad[$1] += $6; all[$1] += $4
      if ($7 != "") { ratio = $7 / best[key]; sum[$1] += log(ratio); count[$1]++
                      if (ratio > most[$1]) most[$1] = ratio }
      sub(".*/[a-z]*_", "", $3); sub(".yaml", "", $3)
      if ($6) where[$1] = where[$1] (where[$1] ? ", " : "") $3 " within " $2 " mm2: " $6 }
    END { for (m in all) printf "| %s | %d of %d | %d of %d | %d of %d | %.3f | %.2f | %s |\n", m, given[m], asked[m],
                                lost[m], given[m], bad[m], all[m], exp(sum[m] / (count[m] ? count[m] : 1)), most[m], where[m] }' \
    first=1 <(lines outside.csv) first=0 <(lines outside.csv) | LC_ALL=C sort
}

table_swap() {
  local counts="count(*), sum(own IS NOT NULL AND (other IS NULL OR own < other)), sum(own IS other),
                sum(other IS NOT NULL AND (own IS NULL OR own > other)),
                exp(avg(ln(coalesce(other, 3 * own) / coalesce(own, 3 * other))))"
  echo "| network | own first proposal over the best known | pairs | own is faster | as fast |" \
    "the other is faster | other / own, geometric mean |"
  echo "|:---|---:|---:|---:|---:|---:|---:|"
  query swap.csv "
    CREATE TABLE s AS SELECT network, proposed_for AS proposer, rank + 0 AS rank, design, CAST(nullif(latency_s, '') AS REAL) AS latency
                        FROM t;
    CREATE TABLE best AS SELECT network, design, min(latency) AS latency FROM s GROUP BY network;
    CREATE TABLE pair AS
      SELECT a.network AS a, b.network AS b, own.latency AS own, other.latency AS other, best.latency AS best
        FROM best AS a JOIN best AS b ON a.network <> b.network AND a.design <> b.design
        JOIN s AS own ON own.network = a.network AND own.proposer = a.network AND own.rank = 1
        JOIN s AS other ON other.network = a.network AND other.proposer = b.network AND other.rank = 1
        JOIN best ON best.network = a.network;
    SELECT printf('| %s | %s | %d | %d | %d | %d | %.3f |', a,
                  CASE WHEN own IS NULL THEN 'infeasible' ELSE printf('%.3f', own / best) END, $counts) FROM pair GROUP BY a;
    SELECT printf('| all | | %d | %d | %d | %d | %.3f |', $counts) FROM pair;"
}

# Geometric means over the tasks of a kind and their logs; a list without a design that can be built counts as 3.
table_play() {
  echo "| tasks | recipe | tasks and logs | best logged | first proposal over the optimum | most | best of ten | best of 128 |" \
    "first proposals infeasible | of all | taken |"
  echo "|:---|:---|---:|---:|---:|---:|---:|---:|---:|---:|:---|"
  lines play.csv | awk -F';' '
    { kind = $2; sub("/.*", "", kind)
      if (kind == "small") { kind = $2; sub("/[^@]*", "", kind) }
      if (kind == "biased" || kind == "tight") { kind = $2; sub("_.*", "", kind) }
      key = kind " | " $3
      if (!(key in n)) order[++keys] = key
      n[key]++; first[key] += log($5); ten[key] += log($6); many[key] += log($9)
      if ($12 > 0) { logged[key] += log($12); known[key]++ }
      if ($5 > most[key]) most[key] = $5
      lost[key] += ($5 == "3.000"); bad[key] += $10; all[key] += $11
      if (!((key, $4) in taken)) names[key] = names[key] " " $4
      taken[key, $4]++ }
    END { for (k = 1; k <= keys; ++k) { key = order[k]
          count = split(names[key], name, " "); text = ""
          for (i = 1; i <= count; ++i) text = text (text ? ", " : "") taken[key, name[i]] " " name[i]
          printf "| %s | %d | %s | %.3f | %.2f | %.3f | %.3f | %d of %d | %.1f %% | %s |\n", key, n[key],
                 known[key] ? sprintf("%.3f", exp(logged[key] / known[key])) : "-", exp(first[key] / n[key]), most[key],
                 exp(ten[key] / n[key]), exp(many[key] / n[key]), lost[key], n[key],
                 100 * bad[key] / (all[key] ? all[key] : 1), text } }'
}

table_exact() {
  echo "| applications | limit | within it | bounded | judged | seconds | search by chance over the best |"
  echo "|:---|:---|---:|---:|---:|---:|---:|"
  query exact.csv "
    SELECT printf('| %s | %s | %,d | %,d | %,d | %.0f | %.3f |', replace(applications, ',', ', '),
                  CASE WHEN \"limit\" = '' THEN 'none' ELSE replace(\"limit\", '--max ', '') END, designs - beyond_limits,
                  bounded, judged, duration_s, by_chance_over_best) FROM t"
}

# Means of every model, then a table of each: the shares of the exact front's hypervolume.
table_front() {
  local name
  echo "| model | log given | hypervolume below 1.1 times | below twice | infeasible | dominated by the log | of the log |" \
    "hypervolume of all of the log |"
  echo "|:---|:---|---:|---:|---:|---:|---:|---:|"
  query front.csv "
    SELECT printf('| %s | %s | %.3f | %.3f | %d of %d | %d | %d | %.3f |',
                  replace(replace(model, '-alone', ''), '-log', ''), CASE WHEN model LIKE '%-log' THEN 'yes' ELSE 'no' END,
                  avg(proposals_frac), avg(proposals_below_2_frac), sum(infeasible), sum(proposals), sum(dominated),
                  sum(from_log), avg(log_frac)) FROM t GROUP BY model ORDER BY min(rowid)"
  while read -r name; do
    printf '\nProposals of %s:\n\n' "$name"
    echo "| application | points of the exact front | proposals | as many exact points | random designs | all of the log |" \
      "below 2 times: proposals | as many | random | log | infeasible | dominated by the log | of the log |"
    echo "|:---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|"
    lines front.csv | awk -F';' -v model="$name" '
      $1 == model { printf "| %s | %d", $2, $3
                    for (i = 4; i <= 11; ++i) { printf " | %s", $i; mean[i] += $i }
                    printf " | %d of %d | %d | %d |\n", $13, $12, $14, $15
                    n++; all += $12; bad += $13; beaten += $14; logged += $15 }
      END { printf "| mean | "
            for (i = 4; i <= 11; ++i) printf " | %.3f", mean[i] / n
            printf " | %d of %d | %d | %d |\n", bad, all, beaten, logged }'
  done < <(query front.csv "SELECT model FROM t GROUP BY model ORDER BY min(rowid)")
}

# Over the smallest value known within the target's limit: logged, or proposed by anything. Where adapting was refused, what the
# command says to do counts: training from scratch on the same rows.
table_few() {
  echo "| target | rows | adapted | as it is | from scratch, same rows | from scratch, 1,000 rows | moved |"
  echo "|:---|---:|---:|---:|---:|---:|:---|"
  awk -F';' '
    function regret(target, value) { return value == "" ? 3 : value / best[target] }
    function shown(key) {
      if (!n[key]) return "-"
      return sprintf("%.3f%s", exp(sum[key] / n[key]), lost[key] ? sprintf(" (%d of %d not built)", lost[key], n[key]) : "")
    }
    function taken() { return $4 == "adapted" && $6 == "refused" ? scratch[$1 ";" $2 ";" $3] : $5 }
    logged { best[$1] = $2; next }
    { line[++count] = $0; if ($4 == "scratch") scratch[$1 ";" $2 ";" $3] = $5; if ($5 != "" && (!($1 in best) || $5 + 0 < best[$1] + 0)) best[$1] = $5 }
    END { for (i = 1; i <= count; ++i) { $0 = line[i]; key = $1 ";" $2 ";" $4
            sum[key] += log(regret($1, taken())); n[key]++; lost[key] += (taken() == "")
            if ($4 != "adapted") continue
            if (!(($1 ";" $2) in moved)) order[++rows] = $1 ";" $2
            moved[$1 ";" $2] = moved[$1 ";" $2] (moved[$1 ";" $2] ? ", " : "") $6 }
          for (r = 1; r <= rows; ++r) { split(order[r], part, ";")
            printf "| %s | %d | %s | %s | %s | %s | %s |\n", part[1], part[2], shown(order[r] ";adapted"),
                   shown(part[1] ";0;unadapted"), shown(order[r] ";scratch"), shown(part[1] ";1000;scratch"),
                   moved[order[r]] } }' \
    logged=1 <(lines few_best.csv) logged=0 <(lines few.csv) | LC_ALL=C sort -s -t'|' -k2,2 -k3,3n
}

# When, of which versions and where the recorded results came about.
table_of_records() {
  echo "| step | lines | date | commit | accelerator model | layers' features | synthetic networks | cores | processor | of these before |"
  echo "|:---|---:|:---|:---|:---|---:|---:|---:|:---|:---|"
  awk -F';' 'NR > 1 { printf "| %s | %d | %s | %s | %s | %s | %s | %s | %s | %s |\n", $1, $9, $2, $3, $4, $5, $6, $7, $8, $10 }' \
    recorded.csv
}
