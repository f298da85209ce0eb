import { createInterface } from 'node:readline/promises'
import { Refused } from './refused.ts'
import type { Session } from './session.ts'

/** Asks y or n on a terminal; Refused not_confirmed unless it is yes. Nobody is asked elsewhere, nor with `yes`. */
export async function requireConfirmation(
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
export function requireTerminalOrYes(session: Session, what: string, yes: boolean): void {
  if (yes || session.asks) return
  const { command } = session.settings
  const detail = `Cannot ${what} here: nobody can be asked, since this is no terminal, and --yes is not given. \`${command} approvals show APPROVAL\` shows what is asked; add --yes to decide without being asked, which is recorded.`
  throw new Refused({ code: 'nobody_to_ask', detail }, { exitCode: 2 })
}

async function saysYes(question: string): Promise<boolean> {
  return /^y(es)?$/i.test((await askLine(`${question} [y/n] `)) ?? '')
}

/** What is typed after a question on the terminal; undefined where nothing was: Ctrl-C, or the end of the input. */
export async function askLine(question: string, { signal, interrupted }: Asking = {}): Promise<string | undefined> {
  const terminal = createInterface({ input: process.stdin, output: process.stderr })
  const left = new Promise<undefined>((resolve) => {
    terminal.once('close', () => resolve(undefined))
    // A terminal that is read line by line hands Ctrl-C over instead of ending the process.
    terminal.once('SIGINT', () => {
      interrupted?.()
      terminal.close()
    })
    signal?.addEventListener('abort', () => terminal.close(), { once: true })
  })
  try {
    const line = signal?.aborted === true ? undefined : await Promise.race([terminal.question(question), left])
    if (line === undefined) process.stderr.write('\n')
    return line?.trim()
  } finally {
    terminal.close()
  }
}

interface Asking {
  /** Nobody need answer any more. */
  readonly signal?: AbortSignal
  /** Called on Ctrl-C. */
  interrupted?(): void
}
