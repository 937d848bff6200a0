// Prints made-up numbers and what their generator says of them, as JSON, one a
// line: node generate.js NODE_MODULES COUNT. Every fifth has 15 digits.
const path = require('path');

const [folder, count] = process.argv.slice(2);
const load = (name) => require(path.resolve(folder, 'id-validator/src', name));
const validator = new (load('IDValidator.js'))(load('GB2260.js'));

for (let i = 0; i < Number(count); i++) {
  const card = validator.makeID(i % 5 === 4);
  console.log(JSON.stringify({ card, info: validator.getInfo(card) }));
}
