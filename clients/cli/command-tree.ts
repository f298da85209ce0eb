import { Command } from 'commander'
import about from '../../package.json' with { type: 'json' }
import { addApprovals } from './approvals.ts'
import { chooseStack } from './choose-stack.ts'
import { addCommandHelp } from './command-help.ts'
import { addDocumentCommands } from './document-commands.ts'
import { addGates } from './gates.ts'
import { addHelp } from './help-command.ts'
import { addPlaceCommands } from './place-commands.ts'
import { addResearch } from './research.ts'
import { addRun } from './run.ts'
import type { Session } from './session.ts'

/** Every command of `sluice`, with its help: nothing runs before it is parsed. */
export function commandTree(session: Session): Command {
  const sluice = new Command('sluice')
    .description('Gated DAG runs of AI-agent work, here and on AWS.')
    .version(about.version)
    .configureOutput({ getOutHelpWidth: width, getErrHelpWidth: width })
    .showHelpAfterError('(--help shows what is allowed)')
    .addHelpText('after', EXIT_CODES)
    // `graph` has options of its own and commands that have them too: what follows a command's name is that command's.
    .enablePositionalOptions()
    .exitOverride()
    .hook('preAction', (_sluice, command) => chooseStack(session, command))
  addPlaceCommands(sluice, session)
  addRun(sluice, session)
  addApprovals(sluice, session)
  addDocumentCommands(sluice, session)
  addGates(sluice, session)
  addResearch(sluice, session)
  addHelp(sluice)
  addCommandHelp(sluice, session.settings.command)
  return sluice
}

/** Lines longer than this are hard to read, however wide the window. */
const WIDEST = 80

function width(): number {
  return Math.min(process.stdout.columns ?? WIDEST, WIDEST)
}

const EXIT_CODES = `
Target: --url, else --stack, else SLUICE_URL, else http://127.0.0.1:4040.
SLUICE_TOKEN is sent as bearer token.
Exit codes: 0 ok, 1 failed run or refused, 2 usage, 3 run ended partial or
blocked, 4 an answer has unsupported sentences, 100 a check failed.`
