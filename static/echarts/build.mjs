// Writes ../echarts.min.js, or the file that the command names: `make charts`.
import { build } from "esbuild";

const notice = `/*! Apache ECharts 5.6.0, a custom build of only the parts in use.
Copyright 2017-2024 The Apache Software Foundation. Licensed under the Apache License, Version 2.0
(https://www.apache.org/licenses/LICENSE-2.0). This product includes software developed at
The Apache Software Foundation (https://www.apache.org/).
Includes ZRender, Copyright (c) 2017 Baidu Inc., BSD 3-Clause License,
and tslib, Copyright (c) Microsoft Corporation, 0BSD. Texts: static/echarts/LICENSES.txt */`;

await build({
  entryPoints: ["entry.mjs"],
  outfile: process.argv[2] ?? "../echarts.min.js",
  bundle: true,
  minify: true,
  format: "iife",
  globalName: "echarts",
  target: "es2020",
  define: { "process.env.NODE_ENV": '"production"' },
  legalComments: "none",
  banner: { js: notice },
});
