import { CommanderError } from 'commander'
import { treeFor } from './command-tree.ts'
import { Refused, reasonLines } from './terminal/refused.ts'
import { openSession, type Session } from './terminal/session.ts'

/** Runs one command line (as `process.argv` has it) and answers the exit code of the process. */
export async function runCommandLine(argv: readonly string[]): Promise<number> {
  let command = 'sluice'
  let session: Session | undefined
  try {
    session = openSession()
    command = session.settings.command
    const { stands_in } = session.settings
    // Every path of every command is meant from there, also those of the place it starts.
    if (stands_in !== undefined) process.chdir(stands_in)
    const tree = await treeFor(session, argv.slice(2))
    await tree.parseAsync([...argv])
    return Number(process.exitCode ?? 0)
  } catch (error) {
    return exitCodeOf(error, command)
  } finally {
    await session?.reading?.close()
  }
}

function exitCodeOf(error: unknown, command: string): number {
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2
  if (error instanceof Refused) {
    for (const line of reasonLines(error.reason, command)) process.stderr.write(`${line}\n`)
    return error.exitCode
  }
  process.stderr.write(
    `error: the CLI itself failed, which is a bug: ${error instanceof Error ? error.stack : error}\n`,
  )
  return 1
}
