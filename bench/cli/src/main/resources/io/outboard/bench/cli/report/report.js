// Draws the charts. Every group of charts has its kind, and every figure its lines, as JSON; kinds are defined below.
(() => {
  'use strict';
  if (typeof Chart === 'undefined') {
    return;
  }
  const root = document.documentElement;
  root.classList.add('scripted');
  const look = name => getComputedStyle(root).getPropertyValue(name).trim();
  const dash = name => look(name) === 'none' ? [] : look(name).split(/\s+/).map(Number);

  const scaled = (value, step, units) => {
    let unit = 0;
    while (Math.abs(value) >= step && unit < units.length - 1) {
      value /= step;
      unit++;
    }
    return `${Number(value.toPrecision(3)).toLocaleString('en')}\u00a0${units[unit]}`.trim();
  };
  const time = ns => scaled(ns, 1000, ['ns', '\u00b5s', 'ms', 's']);
  const bytes = size => scaled(size, 1024, ['B', 'KiB', 'MiB', 'GiB', 'TiB']);
  const count = number => scaled(number, 1000, ['', 'k', 'M', 'G']);
  const rate = number => `${count(number)}/s`;
  const percentile = x => {
    if (x < 0.01) {
      return '0';
    }
    const digits = Math.max(0, Math.ceil(x) - 2) + (Number.isInteger(x) ? 0 : 1);
    return `${Number((100 - 100 * 10 ** -x).toFixed(Math.min(digits, 9)))}\u00a0%`;
  };
  // Formats a percentile for an axis on which a step to the next nine is that many pixels wide; labels never touch.
  const percentileTick = (x, pixels) => {
    const text = pixels < 60 ? percentile(x).replace('\u00a0', '') : percentile(x);
    const crowded = Number.isInteger(x) ? text.length * 6.5 > pixels && x % 2 === 1 : x * pixels < 20;
    return crowded && x > 0 ? '' : text;
  };
  const least = values => values.reduce((a, b) => Math.min(a, b), Infinity);
  const most = values => values.reduce((a, b) => Math.max(a, b), -Infinity);
  const range = (from, to, step) => {
    const values = [];
    for (let value = from; value <= to * (1 + 1e-9); value += step) {
      values.push(value);
    }
    return values;
  };
  // Rounds to the next of 1, 2 and 5 times a power of ten, downwards or upwards.
  const round = (value, up) => {
    const power = 10 ** Math.floor(Math.log10(value));
    const steps = [1, 2, 5, 10].map(step => step * power);
    return up ? steps.find(step => step >= value * 0.999) : steps.reverse().find(step => step <= value * 1.001);
  };

  // Makes an axis of sizes or counts, with as many of the measured values as there is room for.
  const valueAxis = (lines, type, label) => {
    const values = [...new Set(lines.flatMap(line => line.x))].sort((a, b) => a - b);
    const every = Math.ceil(values.length / (innerWidth < 640 ? 4 : 6));
    return {type, min: values[0], max: values[values.length - 1], ticksAt: values.filter((_, i) => i % every === 0), label};
  };
  const timeAxis = lines => {
    const values = lines.flatMap(line => line.y.filter(value => value !== null));
    const min = round(least(values.length > 0 ? values : [1]), false);
    const max = round(Math.max(most(values), min * 10), true);
    const decades = range(Math.ceil(Math.log10(min) - 1e-9), Math.log10(max), 1).map(power => 10 ** power);
    const ticks = decades.length < 3 ? decades.flatMap(ten => [ten / 5, ten / 2, ten, ten * 2, ten * 5]) : decades;
    return {type: 'logarithmic', min, max, ticksAt: ticks.filter(tick => tick >= min && tick <= max), label: time};
  };
  const kernelKind = (xType, xLabel, yAxis, reading) => ({
    interaction: {mode: 'index', intersect: false},
    fill: () => false,
    axes: lines => ({x: valueAxis(lines, xType, xLabel), y: yAxis(lines)}),
    heading: xLabel,
    reading,
  });
  const percent = fraction => `${Number((fraction * 100).toPrecision(3))}\u00a0%`;
  const fractionAxis = () => ({type: 'linear', min: 0, max: 1, ticksAt: range(0, 1, 0.2), label: percent});

  // A kind defines its axes, from the lines that are switched on, and the text of a point.
  const kinds = {
    latency: {
      interaction: {mode: 'nearest', axis: 'xy', intersect: false},
      fill: () => false,
      axes(lines) {
        const right = Math.max(1, most(lines.flatMap(line => line.x)));
        return {
          x: {type: 'linear', min: 0, max: right, ticksAt: [0, Math.log10(2), ...range(1, right, 1)], label: percentileTick},
          y: timeAxis(lines),
        };
      },
      heading: percentile,
      reading: time,
    },
    memory: {
      interaction: {mode: 'index', intersect: false},
      fill: name => name === 'live bytes',
      axes(lines) {
        const top = Math.max(1, most(lines.flatMap(line => line.y.filter(value => value !== null))));
        const right = Math.max(1, most(lines.flatMap(line => line.x)));
        // Steps are round in binary units, about four up to the top.
        const unit = 1024 ** Math.floor(Math.log(top) / Math.log(1024));
        const wanted = top / unit / 4;
        const step = unit * [1 / 16, 1 / 8, 1 / 4, 1 / 2, 1, 2, 4, 8, 16, 32, 64, 128, 256].find(size => size >= wanted * 0.8);
        const max = Math.ceil(top / step) * step;
        return {
          x: {type: 'linear', min: 0, max: right, label: count},
          y: {type: 'linear', min: 0, max, ticksAt: range(0, max, step), label: bytes},
        };
      },
      heading: x => `operation ${x.toLocaleString('en')}`,
      reading: bytes,
    },
    operations: {
      interaction: {mode: 'nearest', axis: 'xy', intersect: false},
      fill: () => false,
      axes(lines) {
        const right = Math.max(10, most(lines.flatMap(line => line.x)));
        const decades = range(0, Math.log10(right), 1).map(power => 10 ** power);
        return {x: {type: 'logarithmic', min: 1, max: right, ticksAt: decades, label: count}, y: timeAxis(lines)};
      },
      heading: x => `up to operation ${x.toLocaleString('en')}`,
      reading: time,
    },
    scatter: {
      interaction: {mode: 'nearest', axis: 'xy', intersect: false},
      fill: () => false,
      dots: true,
      axes(lines) {
        const values = lines.flatMap(line => line.x);
        const top = most(values);
        const step = [0.05, 0.1, 0.2, 0.25, 0.5, 1, 2, 5, 10, 100].find(size => (top - 1) / size <= 6) || top;
        const max = 1 + Math.max(1, Math.ceil((top - 1) / step + 0.2)) * step;
        const min = Math.min(1, least(values));
        const times = timeAxis(lines);
        return {
          x: {type: 'linear', min, max, ticksAt: range(1, max, step), label: x => `${Number(x.toFixed(2))}\u00a0\u00d7`},
          y: {...times, min: least(lines.flatMap(line => line.y)) / 1.25, max: most(lines.flatMap(line => line.y)) * 1.25,
            ticksAt: [1, 2, 5].flatMap(digit => range(0, 9, 1).map(power => digit * 10 ** power))},
        };
      },
      heading: x => `${x.toFixed(3)} of what is live`,
      reading: time,
    },
    threads: {
      interaction: {mode: 'index', intersect: false},
      fill: () => false,
      axes(lines) {
        const counts = [...new Set(lines.flatMap(line => line.x))].sort((a, b) => a - b);
        const max = round(Math.max(1, most(lines.flatMap(line => line.y.filter(value => value !== null)))), true);
        return {
          x: {type: 'logarithmic', min: least(counts), max: most(counts), ticksAt: counts, label: String},
          y: {type: 'linear', min: 0, max, ticksAt: range(0, max, max / 5), label: rate},
        };
      },
      heading: x => x === 1 ? '1 thread' : `${x} threads`,
      reading: rate,
    },
    kernelBytes: kernelKind('logarithmic', bytes, timeAxis, time),
    kernelCount: kernelKind('linear', String, timeAxis, time),
    kernelWorkers: kernelKind('logarithmic', count, timeAxis, time),
    fragmentation: kernelKind('logarithmic', bytes, fractionAxis, percent),
  };

  const axis = (spec, title) => ({
    type: spec.type,
    title: {display: title !== '', text: title, color: look('--soft'), font: {size: 11}},
    min: spec.min,
    max: spec.max,
    border: {display: false},
    grid: {color: look('--rule'), drawTicks: false},
    ticks: {
      color: look('--soft'),
      padding: 6,
      font: {size: 11},
      maxRotation: 0,
      autoSkip: !spec.ticksAt,
      callback(value) {
        return spec.label(value, this.width / (this.max - this.min));
      },
    },
    afterBuildTicks: scale => {
      if (spec.ticksAt) {
        scale.ticks = spec.ticksAt.filter(value => value >= spec.min && value <= spec.max).map(value => ({value}));
      }
    },
  });

  // Names stand beside their lines and points, moved apart where they would touch.
  const font = () => `600 11px ${Chart.defaults.font.family}`;
  const widest = (canvas, lines) => {
    const context = canvas.getContext('2d');
    context.font = font();
    return most([0, ...lines.map(line => context.measureText(line.name).width)]);
  };
  const roomFor = (canvas, lines, kind) => {
    const width = widest(canvas, lines) + 10;
    return !kind.dots && lines.length > 1 && width < canvas.parentElement.clientWidth * 0.4 ? width : 0;
  };
  const spread = (labels, top, bottom) => {
    const step = Math.min(13, (bottom - top) / Math.max(1, labels.length - 1));
    labels.sort((a, b) => a.y - b.y);
    labels.forEach((label, i) => {
      label.y = Math.max(label.y, i > 0 ? labels[i - 1].y + step : top);
    });
    for (let i = labels.length - 1; i >= 0; i--) {
      labels[i].y = Math.min(labels[i].y, i < labels.length - 1 ? labels[i + 1].y - step : bottom);
    }
  };
  const lastPoint = (chart, dataset) => {
    const points = chart.getDatasetMeta(dataset).data;
    const values = chart.data.datasets[dataset].data;
    let last = points.length - 1;
    while (last > 0 && values[last].y === null) {
      last--;
    }
    return points[last];
  };
  const labelsOf = kind => ({
    id: 'labels',
    afterDatasetsDraw(chart) {
      const {ctx, chartArea: area} = chart;
      if (!kind.dots && chart.options.layout.padding.right === 0) {
        return;
      }
      const labels = chart.data.datasets.map((dataset, i) => ({point: lastPoint(chart, i), text: dataset.label, colour: dataset.borderColor}))
        .filter(label => label.point)
        .map(label => ({...label, x: label.point.x, y: label.point.y}));
      ctx.save();
      ctx.font = font();
      ctx.textBaseline = 'middle';
      if (kind.dots) {
        const placed = labels.map(label => ({x0: label.x - 6, x1: label.x + 6, y0: label.y - 6, y1: label.y + 6}));
        for (const label of labels) {
          const width = ctx.measureText(label.text).width;
          const spots = [[9, 0], [-9 - width, 0], [-width / 2, -14], [-width / 2, 14], [9, -11], [9, 11], [-9 - width, -11],
            [-9 - width, 11], [-width / 2, -27], [-width / 2, 27], [9, 22], [9, -22], [-9 - width, 22], [-9 - width, -22]];
          const boxes = spots.map(([dx, dy]) => ({x0: label.x + dx, x1: label.x + dx + width, y0: label.y + dy - 6, y1: label.y + dy + 6}));
          const fits = box => box.x0 >= area.left && box.x1 <= chart.width && box.y0 >= area.top && box.y1 <= area.bottom &&
            placed.every(other => box.x1 < other.x0 || box.x0 > other.x1 || box.y1 < other.y0 || box.y0 > other.y1);
          const box = boxes.find(fits) || boxes.find(box => box.x0 >= 0 && box.x1 <= chart.width) || boxes[2];
          placed.push(box);
          ctx.fillStyle = label.colour;
          ctx.textAlign = 'left';
          ctx.fillText(label.text, box.x0, (box.y0 + box.y1) / 2);
        }
      } else {
        spread(labels, area.top + 5, area.bottom - 5);
        ctx.textAlign = 'left';
        for (const label of labels) {
          ctx.fillStyle = label.colour;
          ctx.fillText(label.text, area.right + 6, label.y);
        }
      }
      ctx.restore();
    },
  });

  const options = (kind, axes, titles, room) => ({
    layout: {padding: {right: room, top: 4}},
    animation: false,
    responsive: true,
    maintainAspectRatio: false,
    normalized: true,
    interaction: kind.interaction,
    scales: {x: axis(axes.x, titles.x), y: axis(axes.y, titles.y)},
    plugins: {
      legend: {display: false},
      tooltip: {
        backgroundColor: look('--raised'),
        borderColor: look('--rule'),
        borderWidth: 1,
        titleColor: look('--ink'),
        bodyColor: look('--ink'),
        footerColor: look('--ink'),
        usePointStyle: true,
        boxHeight: 2,
        itemSort: (a, b) => b.parsed.y - a.parsed.y,
        callbacks: {
          title: items => items.length > 0 ? kind.heading(items[0].parsed.x) : '',
          label: item => ` ${item.dataset.label}: ${kind.reading(item.parsed.y)}`,
          labelPointStyle: () => ({pointStyle: 'line', rotation: 0}),
        },
      },
    },
  });

  const dataset = (line, kind) => ({
    label: line.name,
    data: line.x.map((x, i) => ({x, y: line.y[i]})),
    borderColor: look(line.colour),
    backgroundColor: kind.fill(line.name) ? look(`${line.colour}-fill`) : look(line.colour),
    borderDash: dash(line.dash),
    borderWidth: kind.fill(line.name) ? 1 : 2,
    borderJoinStyle: 'round',
    fill: kind.fill(line.name) ? 'origin' : false,
    pointRadius: kind.dots ? 6 : line.points ? 4 : 0,
    pointBackgroundColor: look(line.colour),
    pointHitRadius: 6,
    spanGaps: Boolean(line.points),
    clip: kind.dots || line.points ? false : undefined,
  });

  const groups = Array.from(document.querySelectorAll('.charts'), element => {
    const kind = kinds[element.dataset.kind];
    const buttons = Array.from(element.querySelectorAll('.legend button'));
    const figures = Array.from(element.querySelectorAll('figure'), figure => ({
      canvas: figure.querySelector('canvas'),
      lines: JSON.parse(figure.querySelector('script').textContent),
      chart: null,
    }));
    const draw = () => {
      const on = new Set(buttons.filter(button => button.getAttribute('aria-pressed') === 'true')
        .map(button => button.dataset.series));
      const all = figures.flatMap(figure => figure.lines);
      const visible = all.filter(line => on.has(line.name));
      const axes = kind.axes(visible.length > 0 ? visible : all);
      for (const figure of figures) {
        if (figure.chart) {
          figure.chart.destroy();
        }
        const lines = figure.lines.filter(line => on.has(line.name));
        figure.chart = new Chart(figure.canvas, {
          type: kind.dots ? 'scatter' : 'line',
          data: {datasets: lines.map(line => dataset(line, kind))},
          options: options(kind, axes, element.dataset, roomFor(figure.canvas, lines, kind)),
          plugins: [labelsOf(kind)],
        });
      }
    };
    for (const button of buttons) {
      button.addEventListener('click', () => {
        button.setAttribute('aria-pressed', String(button.getAttribute('aria-pressed') !== 'true'));
        draw();
      });
    }
    return {draw, figures};
  });

  Chart.defaults.font.family = getComputedStyle(document.body).fontFamily;
  const drawAll = () => groups.forEach(group => group.draw());
  drawAll();
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', drawAll);
  const fit = () => groups.forEach(group => group.figures.forEach(figure => figure.chart.resize()));
  // Whether names fit beside their lines depends on the width.
  let width = innerWidth;
  addEventListener('resize', () => {
    if (width !== innerWidth) {
      width = innerWidth;
      drawAll();
    }
  });
  addEventListener('beforeprint', fit);
  addEventListener('afterprint', fit);
})();
