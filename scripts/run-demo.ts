import { Refused, reasonLines } from '../clients/cli/terminal/refused.ts'
import { endWithParent, type Session } from '../clients/cli/terminal/session.ts'

/** Runs a demo as its own process: what is refused is said in words, and `demo` answers the exit code. */
export async function runDemo(session: Session, demo: () => Promise<number>): Promise<void> {
  // `npm run demo | head`: a reader that goes away ends it, it is no error.
  process.stdout.on('error', (error: NodeJS.ErrnoException) => process.exit(error.code === 'EPIPE' ? 0 : 1))
  endWithParent()
  process.exitCode = await demo().catch((error: unknown) => {
    if (!(error instanceof Refused)) throw error
    for (const line of reasonLines(error.reason)) session.warn(line)
    return error.exitCode
  })
}
