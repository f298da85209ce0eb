import * as z from 'zod'
import { splitLines } from '../../../shared/text/split-lines.ts'
import type { Session } from './session.ts'
import { jsonText } from './text.ts'

/** What every line of an `--ndjson` command has; the commands extend it by members of their own. */
export const NdjsonLineSchema = z.looseObject({ id: z.union([z.string(), z.number()]) })

/**
 * `--ndjson`: a line of stdin in, a line of JSON out, in the same order and at once, so that a tool may keep the process
 * and ask as it goes. Blank lines are passed over but counted; `value` is undefined where a line is no JSON.
 */
export async function answerEachLine(
  session: Session,
  answer: (value: unknown, number: number) => object | Promise<object>,
): Promise<void> {
  let number = 0
  for await (const line of splitLines(process.stdin.setEncoding('utf8'))) {
    number += 1
    if (line.trim() !== '') await session.write(`${jsonText(await answer(readJson(line), number))}\n`)
  }
}

/** So that a tool can still tell which of its lines was wrong. */
export function lineId(value: unknown): string | number | null {
  return NdjsonLineSchema.safeParse(value).data?.id ?? null
}

function readJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
