// The types of the package for `require`.
import guardc = require("guardc");

export const name: string = guardc.Guard.compile("guard g\ntool ping()").name;
