import { planLine } from '../../shared/plan/plan-line.ts'
import { splitLines } from '../../shared/split-lines.ts'
import { jsonText } from './json-text.ts'
import type { Session } from './session.ts'

/**
 * `sluice plan --ndjson`: a line {"id","n","edges","dur"} in, a line of figures out, in the same order and at once; one
 * line at a time is in memory. A line that cannot be planned is answered with its error, the rest goes on, and the exit
 * code is 100 at the end.
 */
export async function planLines(session: Session): Promise<void> {
  let number = 0
  for await (const line of splitLines(process.stdin.setEncoding('utf8'))) {
    number += 1
    if (line.trim() === '') continue
    const answer = planLine(line, number, () => performance.now())
    if ('error' in answer) process.exitCode = 100
    await session.write(`${jsonText(answer)}\n`)
  }
}
