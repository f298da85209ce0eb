import { Command } from 'commander'
import about from '../../package.json' with { type: 'json' }
import { suggest } from '../../shared/text/wording.ts'
import { addApprovals } from './approvals/approval-commands.ts'
import { addDeploy, addDestroy, addLogs } from './aws/deployment-commands.ts'
import { addTest } from './cases/test-commands.ts'
import { addDev } from './dev/dev-command.ts'
import { addCompile, addPlan, addSchema, addValidate } from './documents/document-commands.ts'
import { addGates } from './documents/gate-commands.ts'
import { addEval } from './eval/eval-commands.ts'
import { addGoal } from './goal/goal-commands.ts'
import { addGraph } from './graph/graph-commands.ts'
import { addCommandHelp } from './help/command-help.ts'
import { addCompletion } from './help/completion.ts'
import { addMcp } from './mcp/mcp-command.ts'
import { addConsole } from './place/console.ts'
import { addDoctor } from './place/doctor.ts'
import { findLogin } from './place/local-login.ts'
import { findProjectPlace, type ProjectPlace } from './place/project-place.ts'
import { addSlack } from './place/slack-commands.ts'
import { addStart } from './place/start.ts'
import { addToken } from './place/token-commands.ts'
import { addWebhooks } from './place/webhook-commands.ts'
import { addInit, addNew } from './project/project-commands.ts'
import { addResearch } from './research/research-commands.ts'
import { addRun } from './run/run-commands.ts'
import { addEvent } from './run/send-event.ts'
import { takeShortIds } from './run/whole-ids.ts'
import { chooseTarget } from './server/api.ts'
import { onlyReads, type TargetOptions } from './terminal/options.ts'
import { type Refused, usageError } from './terminal/refused.ts'
import type { Session } from './terminal/session.ts'

/** Every command of `sluice`, with its help: nothing runs before it is parsed, and `before` runs before it does. */
export function commandTree(session: Session, before = prepare): Command {
  const sluice = new Command('sluice')
    .description('Gated DAG runs of AI-agent work, here and on AWS.')
    .version(about.version)
    .configureOutput({ getOutHelpWidth: width, getErrHelpWidth: width })
    .showHelpAfterError('(--help shows what is allowed)')
    .addHelpText('after', EXIT_CODES)
    // `graph` has options of its own and commands that have them too: what follows a command's name is that command's.
    .enablePositionalOptions()
    .exitOverride()
    .hook('preAction', (_sluice, command) => before(session, command))
  addPlaceCommands(sluice, session)
  addRun(sluice, session)
  addApprovals(sluice, session)
  addEvent(sluice, session)
  addDocumentCommands(sluice, session)
  addGates(sluice, session)
  addEval(sluice, session)
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
Target: --url, else --stack, else SLUICE_URL, else the place of this folder: as
it told where it listens, else the port in sluice.yaml, else 4040. Without one,
what only reads runs (list, status, output, verify ..) reads the data folder.
A run may be named by the first characters of its id, where no other begins so.
SLUICE_TOKEN is sent as bearer token.
Exit codes: 0 ok, 1 failed run or refused, 2 usage, 3 run ended partial or
blocked, 4 an answer has unsupported sentences, 100 a check failed,
130 stopped by Ctrl-C.`

/** Before a command that talks to a server: which one, and which runs are meant. */
async function prepare(session: Session, command: Command): Promise<void> {
  if (!command.options.some(({ long }) => long === '--stack')) return
  await prepareTarget(session, command)
  await takeShortIds(session, command)
}

/**
 * Before a command that talks to a server: a deployment named by --stack, or one whose address is API Gateway's and that
 * no token opens, is called with the AWS credentials of the caller; nothing of AWS is loaded otherwise. A place of this
 * user's that asks for a login gets it.
 */
async function prepareTarget(session: Session, command: Command): Promise<void> {
  const options = command.opts<Writable>()
  const { stack, url: given, profile, region } = options
  // Commands that pass their other options on, as a filter of the server, must not pass these.
  for (const name of ['stack', 'profile', 'region'] as const) delete options[name]
  if (stack !== undefined && given !== undefined)
    throw usageError('Cannot use --stack and --url together: one says where.')
  const url = given ?? session.settings.url
  const named = [stack, profile, region].some((option) => option !== undefined)
  if (!named && !isGateway(session, url)) return await prepareLocal(session, command, url)
  const { openSignedTarget } = await import('./aws/signed-target.ts')
  session.signed = await openSignedTarget({ stack, url, profile, region })
}

function isGateway({ settings }: Session, url: string | undefined): boolean {
  return url !== undefined && settings.token === undefined && GATEWAY_HOST.test(url)
}

async function prepareLocal(session: Session, command: Command, url: string | undefined): Promise<void> {
  const place = await findProjectPlace()
  session.place = place
  const login = findLogin(url ?? place.url, place.dataDir)
  if (login !== undefined) session.login = login
  if (url === undefined && onlyReads(command)) await openFolder(session, place)
}

/** Without a server a command that only reads has the data folder itself. */
async function openFolder(session: Session, place: ProjectPlace): Promise<void> {
  const { openReadingPlace } = await import('./place/reading-place.ts')
  const reading = await openReadingPlace(session, chooseTarget(session), place)
  if (reading !== undefined) session.reading = reading
}

type Writable = { -readonly [Name in keyof TargetOptions]: TargetOptions[Name] }

const GATEWAY_HOST = /^https:\/\/[a-z0-9]+\.execute-api\./

/** The commands about where Sluice runs and what it is connected to. */
function addPlaceCommands(parent: Command, session: Session): void {
  for (const add of [
    addInit,
    addNew,
    addStart,
    addDev,
    addConsole,
    addDoctor,
    addCompletion,
    addConnectCommands,
    addMcp,
    addStageCommands,
  ])
    add(parent, session)
}

/** The commands about documents and goal contracts; none needs a server. */
function addDocumentCommands(parent: Command, session: Session): void {
  for (const add of [addValidate, addTest, addCompile, addPlan, addGraph, addSchema, addGoal]) add(parent, session)
}

/** The commands about who Sluice talks to, and who may call it. */
function addConnectCommands(parent: Command, session: Session): void {
  for (const add of [addSlack, addWebhooks, addToken]) add(parent, session)
}

/** The commands about a deployment itself: they talk to AWS, not to our API. */
function addStageCommands(parent: Command, session: Session): void {
  for (const add of [addDeploy, addDestroy, addLogs]) add(parent, session)
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
        if (next === undefined) throw noCommand(found, words, word)
        found = next
      }
      found.outputHelp()
    })
}

function noCommand(group: Command, words: readonly string[], word: string): Refused {
  const known = group.createHelp().visibleCommands(group)
  const near = suggest(
    word,
    known.map((one) => one.name()),
  )
  const hint = near === undefined ? '`sluice --help` lists them.' : `Did you mean "${near}"?`
  return usageError(`There is no command "${words.join(' ')}". ${hint}`)
}
