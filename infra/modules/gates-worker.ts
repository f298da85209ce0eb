import { text } from 'node:stream/consumers'
import { askGates } from './ask-gates.ts'

/**
 * The program commands ask about gates of the project in the working folder: what names them as JSON on stdin, an
 * AskedGates on stdout. A program of its own, because modules are bundled and run in the isolate, which clients may not
 * import.
 */
const { modules, answers } = await askGates(process.cwd(), JSON.parse(await text(process.stdin)))
process.stdout.write(JSON.stringify({ modules: [...modules], answers: [...answers] }))
