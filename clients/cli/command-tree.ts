import { Command } from 'commander'
import about from '../../package.json' with { type: 'json' }
import { suggest } from '../../shared/text/wording.ts'
import { addCommandHelp } from './help/command-help.ts'
import { type Refused, usageError } from './terminal/refused.ts'
import type { Session } from './terminal/session.ts'

/** Every command of `sluice`, with its help: nothing runs before it is parsed, and `before` runs before it does. */
export async function commandTree(session: Session, before: Before = prepare): Promise<Command> {
  return await treeOf(session, COMMANDS, before)
}

/**
 * As much of that tree as one command line needs, without `node` and `sluice`: one that begins with a command gets that
 * command, one that asks for the list of them only what the list says.
 */
export async function treeFor(session: Session, line: readonly string[]): Promise<Command> {
  const [first = '--help', ...others] = line
  if (others.length === 0 && LIST.includes(first)) return listOnly()
  const named = COMMANDS.filter(({ name }) => name === first)
  return await treeOf(session, named.length === 0 ? COMMANDS : named, prepare)
}

type Before = (session: Session, command: Command) => Promise<void> | void

async function treeOf(session: Session, rows: readonly Row[], before: Before): Promise<Command> {
  const sluice = root().hook('preAction', (_sluice, command) => before(session, command))
  for (const add of await Promise.all(rows.map((row) => row.add()))) add(sluice, session)
  addHelp(sluice)
  addCommandHelp(sluice, session.settings.command)
  return sluice
}

/** Lines that are about the whole: they show the list, or less. */
const LIST: readonly string[] = ['help', '--help', '-h', '--version', '-V']

/** What `sluice --help` shows: no command is loaded for it. */
function listOnly(): Command {
  const sluice = root()
  const shown = new Map(COMMANDS.map(({ name, takes }) => [name, takes === undefined ? name : `${name} ${takes}`]))
  for (const { name, is } of COMMANDS) sluice.command(name).description(is)
  addHelp(sluice)
  const usual = sluice.createHelp()
  return sluice.configureHelp({
    subcommandTerm: (command) => shown.get(command.name()) ?? usual.subcommandTerm(command),
  })
}

function root(): Command {
  return (
    new Command('sluice')
      .description('Gated DAG runs of AI-agent work, here and on AWS.')
      .version(about.version)
      .configureOutput({ getOutHelpWidth: width, getErrHelpWidth: width })
      .showHelpAfterError('(--help shows what is allowed)')
      .addHelpText('after', EXIT_CODES)
      // `graph` has options of its own and commands that have them too: what follows a command's name is that command's.
      .enablePositionalOptions()
      .exitOverride()
  )
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
  const { prepareTarget } = await import('./server/prepare-target.ts')
  await prepareTarget(session, command)
}

interface Row {
  readonly name: string
  /** What follows the name in the list. */
  readonly takes?: string
  readonly is: string
  /** Adds the command, and what else comes with it that the list does not show. */
  add(): Promise<(parent: Command, session: Session) => void>
}

/**
 * The commands in the order of the list, in the words they have for themselves (a test compares the two), so that nothing of
 * them is loaded before a line names one. Where Sluice runs and what it is connected to; runs and what they ask;
 * documents and contracts, which need no server.
 */
const COMMANDS: readonly Row[] = [
  {
    name: 'init',
    takes: '[options] [folder]',
    is: 'write a project: a DAG that runs offline, a step, a gate, cases, an evaluation, settings, schemas, CI',
    add: async () => (await import('./project/project-commands.ts')).addInit,
  },
  {
    name: 'new',
    is: 'begin a DAG or a gate, valid from the first line',
    add: async () => (await import('./project/project-commands.ts')).addNew,
  },
  {
    name: 'start',
    takes: '[options]',
    is: 'start the local place: API and console on 127.0.0.1; runs of the data folder go on',
    add: async () => (await import('./place/start.ts')).addStart,
  },
  {
    name: 'dev',
    takes: '[options]',
    is: 'start the local place, and check and reload documents, steps, gates and settings as they are saved',
    add: async () => (await import('./dev/dev-command.ts')).addDev,
  },
  {
    name: 'console',
    takes: '[options]',
    is: 'the console in a browser: of the local place, or of a deployment',
    add: async () => (await import('./place/console.ts')).addConsole,
  },
  {
    name: 'doctor',
    takes: '[options]',
    is: 'check Node, packages, settings, folders, server, console, egress, providers and Slack',
    add: async () => (await import('./place/doctor.ts')).addDoctor,
  },
  {
    name: 'completion',
    takes: '<shell>',
    is: 'print the script that lets Tab complete commands, options, files and run ids',
    add: async () => (await import('./help/completion.ts')).addCompletion,
  },
  {
    name: 'slack',
    is: 'approvals in Slack (docs/slack.md)',
    add: async () => (await import('./place/slack-commands.ts')).addSlack,
  },
  {
    name: 'subject',
    is: 'runs that hold the data of one subject: find them, erase them',
    add: async () => (await import('./run/subject.ts')).addSubject,
  },
  {
    name: 'triggers',
    is: 'what starts runs by itself (docs/triggers.md)',
    add: async () => (await import('./place/trigger-commands.ts')).addTriggers,
  },
  {
    name: 'webhooks',
    is: 'who is told of events over HTTP (docs/webhooks.md)',
    add: async () => (await import('./place/webhook-commands.ts')).addWebhooks,
  },
  {
    name: 'spending',
    is: 'what calls of models may use in a day or a month, and what is left',
    add: async () => (await import('./place/spending-commands.ts')).addSpending,
  },
  {
    name: 'stage',
    is: 'a copy of what a stage has: into a folder, and from there into another stage',
    add: async () => (await import('./stage/stage-commands.ts')).addStage,
  },
  {
    name: 'token',
    is: 'bearer tokens: who may call the API (docs/tokens.md)',
    add: async () => (await import('./place/token-commands.ts')).addToken,
  },
  {
    name: 'mcp',
    takes: '[options]',
    is: 'serve the API as tools to an MCP client, on stdin and stdout',
    add: async () => (await import('./mcp/mcp-command.ts')).addMcp,
  },
  {
    name: 'deploy',
    takes: '[options]',
    is: 'deploy this project to AWS: shows what it makes, may do and costs, then asks',
    add: async () => (await import('./aws/deployment-commands.ts')).addDeploy,
  },
  {
    name: 'destroy',
    takes: '[options]',
    is: 'take a deployment down; its runs, objects and approvals stay unless --with-data',
    add: async () => (await import('./aws/deployment-commands.ts')).addDestroy,
  },
  {
    name: 'rollout',
    is: 'which release of a deployment new runs begin with',
    add: async () => (await import('./aws/release/release-commands.ts')).addRelease,
  },
  {
    name: 'logs',
    takes: '[options] <run-id>',
    is: 'what the functions of a deployment logged about a run (CloudWatch)',
    add: async () => (await import('./aws/deployment-commands.ts')).addLogs,
  },
  {
    name: 'run',
    is: 'start, watch, decide and stop runs',
    add: async () => (await import('./run/run-commands.ts')).addRun,
  },
  {
    name: 'view',
    is: 'searches of runs with names, for everybody of the tenant',
    add: async () => (await import('./run/views.ts')).addView,
  },
  {
    name: 'dag',
    is: 'let no run of a document be started for a while, and let it go on',
    add: async () => (await import('./run/pause.ts')).addDag,
  },
  {
    name: 'approvals',
    is: 'what people are asked over all runs',
    add: async () => (await import('./approvals/approval-commands.ts')).addApprovals,
  },
  {
    name: 'event',
    is: 'say that something happened, to blocks that wait for it',
    add: async () => (await import('./run/send-event.ts')).addEvent,
  },
  {
    name: 'validate',
    takes: '[options] [files...]',
    is: 'check documents without a server; exit code 100 when one has errors',
    add: async () => (await import('./documents/document-commands.ts')).addValidate,
  },
  {
    name: 'test',
    takes: '[options] [files...]',
    is: 'play the cases of tests/*.yaml, offline and in virtual time; scripts stand for models',
    add: async () => (await import('./cases/test-commands.ts')).addTest,
  },
  {
    name: 'compile',
    takes: '[options] <file>',
    is: 'print the state machine of a document (ASL); a function stands in it as a placeholder',
    add: async () => (await import('./documents/document-commands.ts')).addCompile,
  },
  {
    name: 'plan',
    takes: '[options] [file]',
    is: 'say what runs of a document will do, without a server: time, states, joins, costs, limits',
    add: async () => (await import('./documents/document-commands.ts')).addPlan,
  },
  {
    name: 'graph',
    takes: '[options] <file>',
    is: 'draw a document, without a server; or the knowledge graph of one',
    add: async () => (await import('./graph/graph-commands.ts')).addGraph,
  },
  {
    name: 'schema',
    takes: '[options]',
    is: 'print the JSON Schema of a DAG document, for editors and other programs',
    add: async () => (await import('./documents/document-commands.ts')).addSchema,
  },
  {
    name: 'goal',
    is: 'goal contracts and the two gates of completion, without a server',
    add: async () => (await import('./goal/goal-commands.ts')).addGoal,
  },
  {
    name: 'gates',
    is: 'gate types, and checks without a server',
    add: async () => (await import('./documents/gate-commands.ts')).addGates,
  },
  {
    name: 'eval',
    is: 'evaluations: a data set times variants of a document, counted and compared',
    add: async () => (await import('./eval/eval-commands.ts')).addEval,
  },
  {
    name: 'research',
    is: 'ask the knowledge graph; payloads of the research chain',
    add: async () => (await import('./research/research-commands.ts')).addResearch,
  },
]

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
