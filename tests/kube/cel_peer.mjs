// Another implementation of CEL, from npm: each line of standard input, {"rule": …, "self": …}, becomes true, false or "error".
//     node cel_peer.mjs DIRECTORY_OF_NODE_MODULES
import {createInterface} from 'node:readline'
import {pathToFileURL} from 'node:url'

const {evaluate} = await import(pathToFileURL(`${process.argv[2]}/@marcbachmann/cel-js/lib/index.js`))
for await (const line of createInterface({input: process.stdin})) {
  const {rule, self} = JSON.parse(line)
  let verdict
  try {
    verdict = evaluate(rule, {self})
  } catch {
    verdict = 'error'
  }
  console.log(JSON.stringify(verdict))
}
