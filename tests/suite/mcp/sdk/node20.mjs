// The conformance suite imports `globSync` of Node 22, which none of its scenarios for servers calls: Node 20 can run them as well.
import { register } from "node:module";

const module = (text) => `data:text/javascript,${encodeURIComponent(text)}`;
const fs = module('export * from "node:fs"; export { default } from "node:fs"; export const globSync = undefined;');
const resolve = (name, context, next) =>
  name === "fs" && context.parentURL?.includes("/conformance/dist/") ? { url: fs, shortCircuit: true } : next(name, context);
if (!process.getBuiltinModule("fs").globSync) register(module(`const fs = ${JSON.stringify(fs)}; export const resolve = ${resolve};`));
