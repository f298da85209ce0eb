import jsonata from 'jsonata'
import { LIMITS } from '../limits.ts'
import type { Problem } from '../text/document-problems.ts'
import type { Path } from '../text/source-position.ts'
import type { Reading } from './sections.ts'

/**
 * The syntax of a JSONata program of a handler or a wait. It is parsed and never evaluated here: that needs the isolate and its limits.
 * Parsing is quadratic in the steps of a path (4,000 characters made for it: 0.2 s), so only the first
 * LIMITS.program_characters of a document are looked at; the rest is judged where it runs.
 */
export function checkProgram(
  { problems, spent }: Pick<Reading, 'problems' | 'spent'>,
  program: string,
  path: Path,
): void {
  spent.program_characters += program.length
  if (spent.program_characters > LIMITS.program_characters) return
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
