import { createInterface } from 'node:readline/promises'
import * as z from 'zod'
import { splitLines } from '../../../shared/text/json.ts'
import { Refused } from './refused.ts'
import type { Session } from './session.ts'
import { jsonText } from './text.ts'

/** Asks y or n on a terminal; Refused not_confirmed unless it is yes. Nobody is asked elsewhere, nor with `yes`. */
export async function askPerson(
  session: Session,
  { question, yes, instead }: { readonly question: string; readonly yes: boolean; readonly instead: string },
): Promise<void> {
  if (yes || !session.asks || (await saysYes(question))) return
  throw new Refused({ code: 'not_confirmed', detail: instead })
}

/**
 * A decision is a person's word: where no person can be asked (stdin or stdout is no terminal) only `--yes` gives it, and
 * it is recorded as that. Asked before anything is read, so that a script learns it at once: exit code 2.
 */
export function requirePerson(session: Session, what: string, yes: boolean): void {
  if (yes || session.asks) return
  const { command } = session.settings
  const detail = `Cannot ${what} here: nobody can be asked, since this is no terminal, and --yes is not given. \`${command} approvals show APPROVAL\` shows what is asked; add --yes to decide without being asked, which is recorded.`
  throw new Refused({ code: 'nobody_to_ask', detail }, { exitCode: 2 })
}

async function saysYes(question: string): Promise<boolean> {
  return /^y(es)?$/i.test((await askLine(`${question} [y/n] `)) ?? '')
}

/** What is typed after a question on the terminal; undefined where nothing was: Ctrl-C, or the end of the input. */
export async function askLine(question: string): Promise<string | undefined> {
  const terminal = createInterface({ input: process.stdin, output: process.stderr })
  const left = new Promise<undefined>((resolve) => {
    terminal.once('close', () => resolve(undefined))
    // A terminal that is read line by line hands Ctrl-C over instead of ending the process.
    terminal.once('SIGINT', () => terminal.close())
  })
  try {
    const line = await Promise.race([terminal.question(question), left])
    if (line === undefined) process.stderr.write('\n')
    return line?.trim()
  } finally {
    terminal.close()
  }
}

/** What every line of an `--ndjson` command has; the commands extend it by members of their own. */
export const AskingLineSchema = z.looseObject({ id: z.union([z.string(), z.number()]) })

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
  return AskingLineSchema.safeParse(value).data?.id ?? null
}

function readJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
