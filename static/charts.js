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

  // One row a series: its own value, or the incomplete one of the tail behind it.
  function rows(options, index, format, inProgress) {
    const found = [];
    options.series.forEach((series, i) => {
      if (isTail(series)) return;
      const next = options.series[i + 1];
      const own = series.data[index]?.value;
      const tail = next && isTail(next) ? next.data[index]?.value : null;
      if (own != null) found.push({ i, name: series.name, text: format.value(own) });
      else if (tail != null) found.push({ i, name: series.name, text: `${format.value(tail)} (${inProgress})` });
    });
    return found;
  }

  // Built as elements: a string with style attributes would break style-src.
  function tooltip(options, index, colors, format, inProgress) {
    const box = document.createElement("div");
    const head = document.createElement("div");
    head.className = "tip-head";
    head.textContent = longDay.format(date(options.xAxis[0].data[index]));
    box.append(head);
    for (const row of rows(options, index, format, inProgress)) {
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

  // A tail takes the colour of the series that it continues.
  function seriesColors(options) {
    let n = 0;
    let last = "";
    return options.series.map((series) => {
      if (!isTail(series)) last = color(`series-${(n++ % 4) + 1}`);
      return last;
    });
  }

  function dress(figure, plain) {
    const options = structuredClone(plain);
    const format = formatters[figure.dataset.format] ?? formatters.count;
    const [ink, soft, line, panel] = ["ink", "ink-soft", "line", "panel"].map(color);
    const font = getComputedStyle(document.body).fontFamily;
    const colors = seriesColors(options);

    options.animation = !stillness.matches;
    options.animationDuration = 300;
    options.textStyle = { fontFamily: font, color: soft };
    options.series.forEach((series, i) => {
      series.lineStyle = { ...series.lineStyle, color: colors[i], width: 2 };
      series.itemStyle = { ...series.itemStyle, color: colors[i] };
      series.symbol = isTail(series) ? "emptyCircle" : "circle";
      series.symbolSize = isTail(series) ? 6 : 5;
      series.showSymbol = isTail(series) || series.data.length <= sparse;
    });
    options.xAxis.forEach((axis) => {
      axis.axisLine = { lineStyle: { color: line } };
      axis.boundaryGap = false;
      axis.axisTick = { show: false };
      axis.axisLabel = { color: soft, fontSize: 12, hideOverlap: true, alignMinLabel: "left", alignMaxLabel: "right", formatter: (day) => dayMonth.format(date(day)) };
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
      formatter: (params) => tooltip(options, params[0].dataIndex, colors, format, figure.dataset.inProgress),
    };
    return options;
  }

  // The legend is made of buttons, so that a keyboard reaches it. The dashed
  // key stands for the incomplete part of every series.
  function legend(figure, chart, plain, inProgress) {
    const list = document.createElement("div");
    list.className = "legend";
    const swatch = (i) => {
      const mark = document.createElement("i");
      mark.className = i < 0 ? "swatch dashed" : `swatch series-${(i % 4) + 1}`;
      return mark;
    };
    const named = plain.series.filter((series) => !isTail(series));
    named.forEach((series, i) => {
      const button = document.createElement("button");
      button.type = "button";
      button.setAttribute("aria-pressed", "true");
      button.append(swatch(i), series.name);
      button.addEventListener("click", () => {
        button.setAttribute("aria-pressed", String(button.getAttribute("aria-pressed") !== "true"));
        chart.dispatchAction({ type: "legendToggleSelect", name: series.name });
      });
      list.append(button);
    });
    if (named.length < plain.series.length) {
      const key = document.createElement("span");
      key.append(swatch(-1), inProgress);
      list.append(key);
    }
    figure.prepend(list);
  }

  function draw(figure) {
    const plain = JSON.parse(document.getElementById(figure.dataset.chart).textContent);
    const canvas = figure.querySelector(".canvas");
    const chart = echarts.init(canvas, null, { renderer: "canvas" });
    const paint = () => chart.setOption(dress(figure, plain));
    legend(figure, chart, plain, figure.dataset.inProgress);
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
