import { Transform } from 'node:stream'
import { type ChangedNumber, changedNumbers, changedWords } from '../../../shared/exact-numbers.ts'
import { inexactArguments } from './tool-error.ts'

/** More in one line the SDK refuses. */
const MOST_BYTES = 10_485_760
const NEWLINE = 10

/**
 * The lines of an MCP client as they came, but for those with a number that the SDK's parser would change without a word
 * (9007199254740993): nobody after it could tell. These are answered here, in the words of `answer`.
 */
export function exactLines(answer: (line: string) => void): Transform {
  let rest: Buffer[] = []
  let bytes = 0
  const taken = (): Buffer => {
    const whole = Buffer.concat(rest)
    rest = []
    bytes = 0
    return whole
  }
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      let start = 0
      for (let end = chunk.indexOf(NEWLINE); end >= 0; end = chunk.indexOf(NEWLINE, start)) {
        rest.push(chunk.subarray(start, end + 1))
        start = end + 1
        const line = taken()
        const refused = refusalOf(line.toString('utf8'))
        if (refused === undefined) this.push(line)
        else if (refused !== null) answer(`${JSON.stringify(refused)}\n`)
      }
      rest.push(chunk.subarray(start))
      bytes += chunk.length - start
      if (bytes > MOST_BYTES) this.push(taken())
      done()
    },
    flush(done) {
      done(null, taken())
    },
  })
}

/** Undefined: the line is exact, or no JSON, which the SDK says. null: nobody waits for an answer. */
function refusalOf(line: string): object | null | undefined {
  const [changed] = changedNumbers(line)
  if (changed === undefined) return undefined
  const message = parsed(line)
  if (message === undefined) return undefined
  const { id, method } = message
  if (id === undefined) return null
  // An id that is changed itself is no name of a question any more.
  const asked = typeof id === 'number' && !Number.isSafeInteger(id) ? null : id
  return { jsonrpc: '2.0', id: asked, ...refusal(method, message.params, changed) }
}

interface Message {
  readonly id?: unknown
  readonly method?: unknown
  readonly params?: unknown
}

function parsed(line: string): Message | undefined {
  try {
    const value: unknown = JSON.parse(line)
    return typeof value === 'object' && value !== null ? value : undefined
  } catch {
    return undefined
  }
}

const INVALID_PARAMS = -32_602

/** Of a tool as tools refuse, so that the model reads it. */
function refusal(method: unknown, params: unknown, changed: ChangedNumber): object {
  if (method !== 'tools/call')
    return { error: { code: INVALID_PARAMS, message: `Cannot read it: ${changedWords(changed)}.` } }
  const name = typeof params === 'object' && params !== null && 'name' in params ? String(params.name) : 'the tool'
  return { result: inexactArguments(name, changedWords(changed)) }
}
