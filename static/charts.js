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
  const dayMonth = new Intl.DateTimeFormat(language, { day: "numeric", month: "short", timeZone: "UTC" });
  const longDay = new Intl.DateTimeFormat(language, { weekday: "short", day: "numeric", month: "short", year: "numeric", timeZone: "UTC" });

  // Formatters by the name in data-format: of a value, and of an axis label.
  const formatters = {
    count: { value: (v) => whole.format(v), axis: (v) => short.format(v) },
    percent: { value: (v) => percent.format(v), axis: (v) => percent.format(v) },
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
  const isTail = (series) => series.lineStyle?.type === "dashed";
  const isMark = (series) => series.symbol === "triangle";
  const isMain = (series) => !isTail(series) && !isMark(series);

  // A line with what belongs to it: its incomplete tail and its suspect points.
  function lines(options) {
    const found = [];
    options.series.forEach((series) => {
      if (isMain(series)) found.push({ main: series });
      else found.at(-1)[isTail(series) ? "tail" : "mark"] = series;
    });
    return found;
  }

  // One row a line: its own value or the tail's, with what is to be said about it.
  function rows(options, index, format, words) {
    return lines(options).flatMap(({ main, tail, mark }, i) => {
      const at = (series) => series?.data[index]?.value ?? null;
      const value = at(main) ?? at(tail);
      if (value === null) return [];
      const notes = [at(main) === null && words.inProgress, at(mark) !== null && words.suspect].filter(Boolean);
      const text = format.value(value) + (notes.length > 0 ? ` (${notes.join(", ")})` : "");
      return [{ i, name: main.name, text }];
    });
  }

  // Built as elements: a string with style attributes would break style-src.
  function tooltip(options, index, colors, format, words) {
    const box = document.createElement("div");
    const head = document.createElement("div");
    head.className = "tip-head";
    head.textContent = longDay.format(date(options.xAxis[0].data[index]));
    box.append(head);
    for (const row of rows(options, index, format, words)) {
      const line = document.createElement("div");
      line.className = "tip-row";
      const dot = document.createElement("i");
      dot.style.background = colors[row.i];
      const name = document.createElement("span");
      name.textContent = row.name;
      const value = document.createElement("b");
      value.textContent = row.text;
      line.append(dot, name, value);
      box.append(line);
    }
    return box;
  }

  function dress(figure, plain) {
    const options = structuredClone(plain);
    const format = formatters[figure.dataset.format] ?? formatters.count;
    const [ink, soft, line, panel] = ["ink", "ink-soft", "line", "panel"].map(color);
    const font = getComputedStyle(document.body).fontFamily;
    const all = lines(options);
    const colors = all.map((_, i) => color(`series-${(i % 4) + 1}`));
    const warn = color("warn");

    options.animation = !stillness.matches;
    options.animationDuration = 300;
    options.textStyle = { fontFamily: font, color: soft };
    all.forEach(({ main, tail, mark }, i) => {
      const look = { itemStyle: { color: colors[i] }, lineStyle: { color: colors[i], width: 2 } };
      Object.assign(main, look, { symbol: "circle", symbolSize: 5, showSymbol: main.data.length <= sparse });
      if (tail) Object.assign(tail, look, { lineStyle: { ...look.lineStyle, type: "dashed" }, symbol: "emptyCircle", symbolSize: 6, showSymbol: true });
      if (mark) Object.assign(mark, { itemStyle: { color: warn }, lineStyle: { width: 0 }, symbolSize: 10, showSymbol: true, z: 3 });
    });
    options.xAxis.forEach((axis) => {
      axis.axisLine = { lineStyle: { color: line } };
      axis.boundaryGap = false;
      axis.axisTick = { show: false };
      axis.axisLabel = { color: soft, fontSize: 12, hideOverlap: true, formatter: (day) => dayMonth.format(date(day)) };
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
      formatter: (params) => tooltip(options, params[0].dataIndex, colors, format, figure.dataset),
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
    all.forEach(({ main }, i) => {
      const button = document.createElement("button");
      button.type = "button";
      button.setAttribute("aria-pressed", "true");
      button.append(swatch(`series-${(i % 4) + 1}`), main.name);
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
    figure.prepend(list);
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
  }

  // The library is asked for only by pages that have a chart.
  const library = document.createElement("script");
  library.src = document.currentScript?.dataset.echarts ?? document.querySelector("script[data-echarts]").dataset.echarts;
  library.addEventListener("load", () => figures.forEach(draw));
  document.head.append(library);
})();
