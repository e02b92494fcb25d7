// Draws every figure[data-chart] from the options beside it. The page is whole
// without this script: each chart's numbers also stand in a table.
(() => {
  const figures = [...document.querySelectorAll("figure[data-chart]")];
  if (figures.length === 0) return;

  const sparse = 31; // points up to which each gets a dot
  const language = figures[0].dataset.language;
  const whole = new Intl.NumberFormat(language);
  const short = new Intl.NumberFormat(language, { notation: "compact", maximumFractionDigits: 1 });
  const percent = new Intl.NumberFormat(language, { style: "percent", maximumFractionDigits: 1 });
  const signed = new Intl.NumberFormat(language, { style: "percent", minimumFractionDigits: 1, maximumFractionDigits: 1, signDisplay: "exceptZero" });
  const points = new Intl.NumberFormat(language, { minimumFractionDigits: 1, maximumFractionDigits: 1, signDisplay: "exceptZero" });
  const decimal = new Intl.NumberFormat(language, { minimumFractionDigits: 2, maximumFractionDigits: 2 });
  const dayMonth = new Intl.DateTimeFormat(language, { day: "numeric", month: "short", timeZone: "UTC" });
  const monthYear = new Intl.DateTimeFormat(language, { month: "short", year: "numeric", timeZone: "UTC" });
  const longDay = new Intl.DateTimeFormat(language, { weekday: "short", day: "numeric", month: "short", year: "numeric", timeZone: "UTC" });

  // A change always has a sign, as in the tables.
  const withSign = (text) => (/^[+-]/.test(text) ? text.replace("-", "−") : `±${text}`);
  const share = (now, before) => (before === 0 ? "" : withSign(signed.format((now - before) / before)));
  const difference = (now, before, words) => words.points.replace("{n}", withSign(points.format(100 * (now - before))));

  // Formatters by the name in data-format: of a value, of an axis label and of a
  // change since an earlier value.
  const formatters = {
    // What hangs below the axis is people too, not less than nobody.
    count: { value: (v) => whole.format(Math.abs(v)), axis: (v) => short.format(Math.abs(v)), change: share },
    percent: { value: (v) => percent.format(v), axis: (v) => percent.format(v), change: difference },
    number: { value: (v) => decimal.format(v), axis: (v) => short.format(v), change: share },
  };

  const stillness = matchMedia("(prefers-reduced-motion: reduce)");
  const darkness = matchMedia("(prefers-color-scheme: dark)");

  // A custom property may hold light-dark(); only a real property resolves it.
  const probe = document.createElement("i");
  probe.hidden = true;
  document.body.append(probe);
  const color = (name) => {
    probe.style.color = `var(--${name})`;
    return getComputedStyle(probe).color;
  };

  const date = (iso) => new Date(`${iso}T00:00:00Z`);
  // Names of the places on an axis by the name in data-axis: short and long.
  const places = {
    day: { short: (at) => dayMonth.format(date(at)), long: (at) => longDay.format(date(at)) },
    week: { short: (at) => dayMonth.format(date(at)), long: (at) => longDay.format(date(at)) },
    month: { short: (at) => monthYear.format(date(at)), long: (at) => monthYear.format(date(at)) },
    text: { short: (at) => at, long: (at) => at },
  };

  const isTail = (series) => series.lineStyle?.type === "dashed" || series.itemStyle?.opacity < 1;
  const isMark = (series) => series.symbol === "triangle";
  const isMain = (series) => !isTail(series) && !isMark(series);
  const isBar = (series) => series.type === "bar";
  const isEarlier = (series) => series.lineStyle?.color === "grey";
  const isThin = (series) => series.lineStyle?.width === 1;

  // A value between gaps has no line: only a dot shows it.
  const isLone = (data, i) => data[i]?.value != null && data[i - 1]?.value == null && data[i + 1]?.value == null;

  // A line with what belongs to it: its incomplete tail and its suspect points.
  // Those of earlier days come last, in the order of the lines compared with them.
  function lines(options) {
    const found = [];
    options.series.forEach((series) => {
      if (isMain(series)) found.push({ main: series, earlier: isEarlier(series) });
      else found.at(-1)[isTail(series) ? "tail" : "mark"] = series;
    });
    return found;
  }

  // A line's value at a place: its own, or its tail's, which isn't final.
  function valueAt({ main, tail }, index) {
    const at = (series) => series?.data[index]?.value ?? null;
    return { value: at(main) ?? at(tail), final: at(main) !== null };
  }

  // One row a line: its value with what is to be said about it, and the earlier
  // value with the change since when it is compared.
  function rows(all, index, format, words) {
    const earlier = all.filter((line) => line.earlier);
    return all.flatMap((line, i) => {
      const { value, final } = valueAt(line, index);
      const before = earlier[i] ? valueAt(earlier[i], index).value : null;
      if (line.earlier || (value === null && before === null)) return [];
      const row = { i, name: line.main.name, value: value === null ? "–" : format.value(value) + (final ? "" : ` (${words.inProgress})`) };
      if (earlier.length === 0) return [row];
      const change = value !== null && final && before !== null ? format.change(value, before, words) : "";
      return [{ ...row, before: before === null ? "–" : format.value(before), change }];
    });
  }

  // Why a place is suspect in some of the lines, each reason once.
  function reasons(some, index) {
    return [...new Set(some.map(({ mark }) => mark?.data[index]?.name).filter(Boolean))];
  }

  // What a place is compared with; where there is nothing, that is said.
  function comparedWith(earlier, index, words) {
    const day = words.against.replace("{day}", words.place(earlier[0].main.data[index].name));
    const why = reasons(earlier, index);
    if (why.length === 0 && earlier.every((line) => valueAt(line, index).value === null)) why.push(words.noData);
    return [day, ...why].join(" · ");
  }

  const element = (name, className, text = "") => Object.assign(document.createElement(name), { className, textContent: text });

  // Built as elements: a string with style attributes would break style-src.
  function tooltip(options, all, index, colors, format, words) {
    const box = document.createElement("div");
    const earlier = all.filter((line) => line.earlier);
    const now = all.filter((line) => !line.earlier);
    box.append(element("div", "tip-head", [words.place(options.xAxis[0].data[index]), ...reasons(now, index)].join(" · ")));
    if (earlier.length > 0) box.append(element("div", "tip-against", comparedWith(earlier, index, words)));
    for (const row of rows(all, index, format, words)) {
      const line = element("div", "tip-row");
      const dot = document.createElement("i");
      dot.style.background = colors[row.i];
      line.append(dot, element("span", "", row.name), element("b", "", row.value));
      if (row.before) line.append(element("span", "tip-before", row.before), element("span", "tip-change", row.change));
      box.append(line);
    }
    return box;
  }

  // Colour tokens of all lines: four that differ, or for thin lines the steps of
  // one scale, so that those in a sequence look like one; another line among
  // them has a colour that the scale lacks.
  function names(all) {
    const thin = all.filter(({ main }) => isThin(main));
    return all.map((line, i) => {
      if (line.earlier) return "control";
      const nth = thin.indexOf(line);
      const own = thin.length > 0 ? 2 : (i % 4) + 1;
      return nth < 0 ? `series-${own}` : `scale-${Math.min(9, 4 + Math.floor((nth * 6) / thin.length))}`;
    });
  }

  function paintLine({ main, tail, earlier }, tone) {
    const width = earlier || isThin(main) ? 1 : 2;
    const look = { itemStyle: { color: tone }, lineStyle: { color: tone, width } };
    const few = main.data.length <= sparse;
    const lone = (!few || earlier) && main.data.some((_, i) => isLone(main.data, i));
    Object.assign(main, look, { symbol: "circle", symbolSize: 3 + width, showSymbol: (few && !earlier) || lone, showAllSymbol: true, z: 1 + width });
    if (lone) main.symbolSize = (_, { dataIndex }) => (isLone(main.data, dataIndex) ? 5 : 0);
    if (tail) Object.assign(tail, look, { lineStyle: { ...look.lineStyle, type: "dashed" }, symbol: "emptyCircle", symbolSize: 4 + width, showSymbol: true, showAllSymbol: true });
  }

  function paintBars(main, tail, tone) {
    Object.assign(main, { itemStyle: { color: tone }, barMaxWidth: 28, barCategoryGap: "25%" });
    if (tail) tail.itemStyle = { ...tail.itemStyle, color: tone, borderColor: tone, borderWidth: 1, borderType: "dashed" };
  }

  function dress(figure, plain) {
    const options = structuredClone(plain);
    const format = formatters[figure.dataset.format] ?? formatters.count;
    const [ink, soft, line, panel] = ["ink", "ink-soft", "line", "panel"].map(color);
    const font = getComputedStyle(document.body).fontFamily;
    const all = lines(options);
    const place = places[figure.dataset.axis] ?? places.text;
    const { inProgress, noData, against, points: unit } = figure.dataset;
    const words = { inProgress, noData, against, points: unit, place: place.long };
    const colors = names(all).map(color);
    const warn = color("warn");

    options.animation = !stillness.matches;
    options.animationDuration = 300;
    options.textStyle = { fontFamily: font, color: soft };
    all.forEach((line, i) => {
      const { main, tail, mark } = line;
      if (isBar(main)) paintBars(main, tail, colors[i]);
      else paintLine(line, colors[i]);
      if (mark) Object.assign(mark, { itemStyle: { color: warn }, lineStyle: { width: 0 }, symbolSize: 10, showSymbol: true, showAllSymbol: true, z: 5 });
    });
    options.xAxis.forEach((axis) => {
      axis.axisLine = { lineStyle: { color: line } };
      axis.boundaryGap = isBar(options.series[0]) || place === places.text;
      axis.axisTick = { show: false };
      axis.axisLabel = { color: soft, fontSize: 12, hideOverlap: true, formatter: place.short };
    });
    options.yAxis.forEach((axis) => {
      axis.splitLine = { lineStyle: { color: line } };
      axis.axisLabel = { color: soft, fontSize: 12, formatter: format.axis };
    });
    options.tooltip = {
      ...options.tooltip,
      renderMode: "html",
      className: "tip",
      backgroundColor: panel,
      borderColor: line,
      textStyle: { color: ink, fontSize: 13, fontFamily: font },
      axisPointer: { type: "line", lineStyle: { color: soft } },
      formatter: (params) => tooltip(options, all, params[0].dataIndex, colors, format, words),
    };
    return options;
  }

  function swatch(name) {
    const mark = document.createElement("i");
    mark.className = `swatch ${name}`;
    return mark;
  }

  // The legend is made of buttons, so that a keyboard reaches it. The keys
  // after them explain the dashes and the triangles of all lines.
  function legend(figure, chart, plain) {
    const all = lines(plain);
    const list = document.createElement("div");
    list.className = "legend";
    const tones = names(all);
    const named = all.length > 1 ? all : []; // one alone is named by its heading
    named.forEach(({ main }, i) => {
      if (all.findIndex((line) => line.main.name === main.name) < i) return; // earlier days share a button
      const button = document.createElement("button");
      button.type = "button";
      button.setAttribute("aria-pressed", "true");
      button.append(swatch(tones[i]), main.name);
      button.addEventListener("click", () => {
        button.setAttribute("aria-pressed", String(button.getAttribute("aria-pressed") !== "true"));
        chart.dispatchAction({ type: "legendToggleSelect", name: main.name });
      });
      list.append(button);
    });
    const key = (name, word) => {
      const item = document.createElement("span");
      item.append(swatch(name), word);
      list.append(item);
    };
    if (all.some(({ tail }) => tail)) key("dashed", figure.dataset.inProgress);
    if (all.some(({ mark }) => mark)) key("suspect", figure.dataset.suspect);
    if (list.childElementCount > 0) figure.prepend(list);
  }

  // Paper is light, whatever the theme is.
  function onPaper(paint) {
    const root = document.documentElement;
    const theme = root.dataset.theme;
    addEventListener("beforeprint", () => {
      root.dataset.theme = "light";
      paint();
    });
    addEventListener("afterprint", () => {
      if (theme) root.dataset.theme = theme;
      else delete root.dataset.theme;
      paint();
    });
  }

  function draw(figure) {
    const plain = JSON.parse(document.getElementById(figure.dataset.chart).textContent);
    const canvas = figure.querySelector(".canvas");
    const chart = echarts.init(canvas, null, { renderer: "canvas" });
    const paint = () => chart.setOption(dress(figure, plain));
    legend(figure, chart, plain);
    paint();
    new ResizeObserver(() => chart.resize()).observe(canvas);
    darkness.addEventListener("change", paint);
    stillness.addEventListener("change", paint);
    onPaper(() => {
      chart.setOption({ ...dress(figure, plain), animation: false });
      chart.getZr().flush(); // paper does not wait for the next frame
    });
  }

  // The library is asked for only by pages that have a chart.
  const library = document.createElement("script");
  library.src = document.currentScript?.dataset.echarts ?? document.querySelector("script[data-echarts]").dataset.echarts;
  library.addEventListener("load", () => figures.forEach(draw));
  document.head.append(library);
})();
