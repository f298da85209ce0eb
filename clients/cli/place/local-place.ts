import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import * as z from 'zod'
import type { ProjectProblem } from '../../../shared/ports/health.ts'
import { Refused } from '../terminal/refused.ts'

export interface PlaceOptions {
  /** Where sluice.yaml and the files it names are; absent = the working folder. */
  readonly projectDir?: string
  /** 0 = any free one; absent = as sluice.yaml says. */
  readonly port?: number
  readonly dataDir?: string
  readonly inputsDir?: string
  /** Documents from the package's own dags/ only. */
  readonly example?: boolean
  /** Callers need what the start makes. */
  readonly login?: boolean
  /** Its data folder is only looked at. */
  readonly reads?: boolean
  /** It ends with this command. */
  readonly inside?: boolean
  /** What the place logs goes to this process's stderr; otherwise only its last words are kept, for a failure. */
  readonly logs?: boolean
}

/** The local place, running as a child process: it stops when this process ends, however that happens. */
export interface LocalPlace {
  readonly url: string
  readonly pid: number
  readonly dataDir: string
  /** What callers need, where they need anything, and the files with the first tokens of its tenants. */
  readonly login?: string | undefined
  readonly firstTokens: readonly string[]
  /** Where the start made a secret: the address that holds it, and the file it lies in. */
  readonly consoleUrl?: string | undefined
  readonly loginFile?: string | undefined
  /** Resolves with its exit code when it has ended. */
  readonly ended: Promise<number>
  /** The end of what it logged, where that is not shown anyway; at most 4,000 characters. */
  lastWords(): string
  /** Tells what is wrong with the files of its project: its console shows it. */
  tell(project: readonly ProjectProblem[]): void
  /** Asks for a clean stop and waits for it. */
  stop(): Promise<void>
}

/** Starts `infra/local`; Refused (exit code 1) when it cannot: port taken, folder in use, bad sluice.yaml. */
export async function startPlace(options: PlaceOptions): Promise<LocalPlace> {
  const child = spawn(process.execPath, placeArguments(options), {
    stdio: ['ignore', 'pipe', options.logs === true ? 'inherit' : 'pipe', 'ipc'],
    ...(options.projectDir === undefined ? {} : { cwd: options.projectDir }),
  })
  const ended = once(child, 'exit').then(([code, signal]) => (typeof code === 'number' ? code : signalCode(signal)))
  const lastWords = keepLast(child)
  const ready = await firstLine(child)
  if (ready === undefined) throw diedSilently(await ended, lastWords())
  if (!ready.ready) throw new Refused({ code: ready.error.code, detail: ready.error.message })
  return {
    url: ready.url,
    pid: ready.pid,
    dataDir: ready.data_dir,
    login: ready.login,
    firstTokens: ready.first_tokens ?? [],
    consoleUrl: ready.console_url,
    loginFile: ready.login_file,
    ended,
    lastWords,
    tell: (project) => void (child.connected && child.send({ project })),
    async stop() {
      child.kill('SIGTERM')
      await ended
    },
  }
}

function fileOf(path: string): string {
  return fileURLToPath(new URL(path, import.meta.url))
}

function placeArguments({ port, dataDir, inputsDir, ...flags }: PlaceOptions): string[] {
  return [
    fileOf('../../../infra/local/main.ts'),
    ...(port === undefined ? [] : ['--port', String(port)]),
    ...(dataDir === undefined ? [] : ['--data-dir', dataDir]),
    ...(inputsDir === undefined ? [] : ['--inputs-dir', inputsDir]),
    ...FLAGS.filter((name) => flags[name] === true).map((name) => `--${name}`),
  ]
}

const FLAGS = ['example', 'login', 'reads', 'inside'] as const

function signalCode(signal: unknown): number {
  return signal === 'SIGTERM' || signal === 'SIGINT' ? 0 : 1
}

/** The end of stderr, where it is piped: at most 4,000 characters. */
function keepLast(child: ChildProcess): () => string {
  let kept = ''
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    kept = (kept + text).slice(-4_000)
  })
  return () => kept
}

const ReadySchema = z.discriminatedUnion('ready', [
  z.looseObject({
    ready: z.literal(true),
    url: z.string(),
    pid: z.int(),
    data_dir: z.string(),
    login: z.string().optional(),
    first_tokens: z.array(z.string()).optional(),
    console_url: z.string().optional(),
    login_file: z.string().optional(),
  }),
  z.looseObject({ ready: z.literal(false), error: z.looseObject({ code: z.string(), message: z.string() }) }),
])

/** The place's one line; undefined when it ended without a readable one. Later lines are read and dropped. */
async function firstLine(child: ChildProcess): Promise<z.infer<typeof ReadySchema> | undefined> {
  if (child.stdout === null) return undefined
  const lines = createInterface({ input: child.stdout })
  const [line] = await Promise.race([once(lines, 'line'), once(lines, 'close')])
  try {
    return ReadySchema.parse(JSON.parse(line))
  } catch {
    return undefined
  }
}

function diedSilently(code: number, lastWords: string): Refused {
  const said = lastWords === '' ? 'It said nothing.' : `Its last words:\n${lastWords.trimEnd()}`
  return new Refused({
    code: 'place_died',
    detail: `Cannot start the local place: it ended with code ${code}. ${said}`,
  })
}
