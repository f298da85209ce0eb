import jsonata from 'jsonata'
import { LIMITS } from './limits.ts'
import type { Reading } from './reading.ts'
import type { Problem } from './report.ts'
import type { Path } from './source.ts'

/** Characters of JSONata that count as one compiled part: parsing the worst of them takes about 1 ms. */
const CHARACTERS_A_PART = 100

/** The syntax of a `transform` program. It is parsed and never evaluated here: that needs the isolate and its limits. */
export function checkProgram({ problems, spent }: Reading, program: string, path: Path): void {
  const before = spent.compiled_parts
  spent.compiled_parts += Math.ceil(program.length / CHARACTERS_A_PART)
  if (spent.compiled_parts > LIMITS.compiled_parts) {
    const text = `the document has more JSONata, patterns and schema references than are compiled (${LIMITS.compiled_parts} parts)`
    if (before <= LIMITS.compiled_parts) problems.push({ code: 'limit_exceeded', path, say: () => ({ text }) })
    return
  }
  const why = syntaxError(program)
  if (why === undefined) return
  const say: Problem['say'] = ({ place }) => ({ text: `${place} is not JSONata: ${why}` })
  problems.push({ code: 'malformed_expression', path, say })
}

function syntaxError(program: string): string | undefined {
  try {
    jsonata(program)
    return undefined
  } catch (cause) {
    // jsonata throws plain objects {code, position, message}, and RangeError where brackets nest too deep.
    const { message, position } = cause as { readonly message?: unknown; readonly position?: unknown }
    const at = typeof position === 'number' ? ` (at character ${position})` : ''
    return `${typeof message === 'string' ? message.slice(0, 200) : 'it cannot be read'}${at}`
  }
}
