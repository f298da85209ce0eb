import { Command, CommanderError } from 'commander'
import about from '../../package.json' with { type: 'json' }
import { addApprovals } from './approvals.ts'
import { addDocumentCommands } from './document-commands.ts'
import { endWithParent } from './end-with-parent.ts'
import { addGates } from './gates.ts'
import { addPlaceCommands } from './place-commands.ts'
import { reasonLines } from './reason-lines.ts'
import { Refused, usage } from './refused.ts'
import { addResearch } from './research.ts'
import { addRun } from './run.ts'
import { openSession, type Session } from './session.ts'

// `sluice | head`: a reader that goes away ends the command, it is no error.
process.stdout.on('error', (error: NodeJS.ErrnoException) => process.exit(error.code === 'EPIPE' ? 0 : 1))

/** Runs one command line and answers the exit code of the process. */
async function main(argv: readonly string[]): Promise<number> {
  let command = 'sluice'
  try {
    const session = openSession()
    command = session.settings.command
    await program(session).parseAsync([...argv])
    return Number(process.exitCode ?? 0)
  } catch (error) {
    return exitCodeOf(error, command)
  }
}

function program(session: Session): Command {
  const sluice = new Command('sluice')
    .description('Gated DAG runs of AI-agent work, here and on AWS.')
    .version(about.version)
    .showHelpAfterError('(--help shows what is allowed)')
    .addHelpText('after', EXIT_CODES)
    // `graph` has options of its own and commands that have them too: what follows a command's name is that command's.
    .enablePositionalOptions()
    .exitOverride()
  addPlaceCommands(sluice, session)
  addRun(sluice, session)
  addApprovals(sluice, session)
  addDocumentCommands(sluice, session)
  addGates(sluice, session)
  addResearch(sluice, session)
  addHelp(sluice)
  return sluice
}

/** `sluice help run start`: the words of any command, however deep. */
function addHelp(sluice: Command): void {
  sluice
    .helpCommand(false)
    .command('help')
    .description('show the help of a command')
    .argument('[command...]', 'as in `sluice help run start`')
    .action((words: readonly string[]) => {
      let found = sluice
      for (const word of words) {
        const next = found.commands.find((one) => one.name() === word)
        if (next === undefined) throw usage(`There is no command "${words.join(' ')}". \`sluice --help\` lists them.`)
        found = next
      }
      found.outputHelp()
    })
}

const EXIT_CODES = `
Target: --url, else SLUICE_URL, else http://127.0.0.1:4040. SLUICE_TOKEN is sent as bearer token.
Exit codes: 0 ok, 1 failed run or refused, 2 usage, 3 run ended partial or blocked, 100 a check failed.`

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

endWithParent()
process.exitCode = await main(process.argv)
