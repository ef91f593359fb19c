// Reads what push sends by packages that others publish: `decode.cjs parca|pprof FILE` prints what is in it as JSON.
// @parca/client are the messages of Parca's own page; pprof-format is by what Pyroscope's client for Node.js writes.

const { readFileSync } = require("node:fs");
const { register } = require("node:module");
const { dirname, join } = require("node:path");
const { pathToFileURL } = require("node:url");
const { gunzipSync } = require("node:zlib");

// The package is made for bundlers: its modules do not say that they are, nor the ends of their names.
const HOOKS = `
export const resolve = (name, context, next) =>
  next(name, context).catch(() => next(name + ".js", context));
export const load = (url, context, next) =>
  next(url, url.includes("/@parca/client/") ? { ...context, format: "module" } : context);
`;

function pprof(bytes) {
  const { Profile } = require("pprof-format");
  const profile = Profile.decode(gunzipSync(bytes));
  const text = (number) => profile.stringTable.strings[Number(number)];
  const types = profile.sampleType.map((one) => `${text(one.type)}/${text(one.unit)}`);
  const sums = types.map((_, nth) =>
    profile.sample.reduce((sum, one) => sum + Number(one.value[nth]), 0),
  );
  const labels = profile.sample.flatMap((one) => one.label.map((label) => text(label.key)));
  const names = profile.function.map((one) => text(one.name));
  return { types, sums, labels: [...new Set(labels)].sort(), names: names.sort() };
}

async function parca(text) {
  const main = dirname(require.resolve("@parca/client/package.json"));
  register(`data:text/javascript,${encodeURIComponent(HOOKS)}`);
  const path = join(main, "dist/parca/profilestore/v1alpha1/profilestore.js");
  const { WriteRawRequest } = await import(pathToFileURL(path));
  // Fields that it does not know are an error; what it knows goes over the wire and back.
  const sent = WriteRawRequest.fromJson(JSON.parse(text));
  const { series, normalized } = WriteRawRequest.fromBinary(WriteRawRequest.toBinary(sent));
  const [{ labels, samples }] = series;
  const pairs = labels.labels.map(({ name, value }) => [name, value]);
  const profiles = samples.map(({ rawProfile }) => pprof(rawProfile));
  return { n_series: series.length, normalized, labels: pairs, profiles };
}

async function main([kind, file]) {
  const bytes = readFileSync(file);
  const decoded = kind === "parca" ? await parca(bytes.toString()) : pprof(bytes);
  console.log(JSON.stringify(decoded));
}

main(process.argv.slice(2));
