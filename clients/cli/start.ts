import { type Command, InvalidArgumentError } from 'commander'
import { jsonText } from './json-text.ts'
import { type LocalPlace, startPlace } from './local-place.ts'
import type { Session } from './session.ts'

interface StartOptions {
  readonly port?: number
  readonly dataDir?: string
  readonly inputsDir?: string
  readonly example?: true
  readonly json?: true
}

/** `sluice start`: the local place in the foreground, until it is told to stop. */
export function addStart(parent: Command, session: Session): void {
  parent
    .command('start')
    .description('start the local place: API and console on 127.0.0.1; runs of the data folder go on')
    .option('--port <n>', 'port to listen on (default: sluice.yaml, else 4040; 0 = any free one)', readPort)
    .option('--data-dir <dir>', 'folder of runs and objects (default: sluice.yaml, else .sluice)')
    .option('--inputs-dir <dir>', 'folder runs may read files from (default: sluice.yaml, else inputs)')
    .option('--example', 'serve the documents shipped with the package instead of ./dags')
    .option('--json', 'print one JSON line when it is ready')
    .action((options: StartOptions) => start(session, options))
}

async function start(session: Session, options: StartOptions): Promise<void> {
  const place = await startPlace({ ...options, logs: true })
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => void place.stop())
  const { url, pid, dataDir, login, firstTokens } = place
  if (options.json === true) {
    session.say(
      jsonText({ ready: true, url, pid, data_dir: dataDir, ...(login && { login, first_tokens: firstTokens }) }),
    )
  } else {
    session.say(
      `Sluice answers at ${url} (process ${pid}, data in ${dataDir}). Ctrl-C stops it; runs go on at the next start.`,
    )
    session.say(login === undefined ? `Console: ${url}/` : `Console: sluice console --url ${url}`)
    if (!url.endsWith(':4040')) session.say(`Other commands find it with --url ${url}, or SLUICE_URL=${url}.`)
    for (const line of loginLines(place)) session.say(line)
  }
  const code = await place.ended
  if (code !== 0)
    session.warn(`The place ended with code ${code}. Its data is kept in ${dataDir}: start it again to go on.`)
  process.exitCode = code === 0 ? 0 : 1
}

/** How to call a place that answers nobody without a token. */
function loginLines({ login, firstTokens: [first, ...others] }: LocalPlace): readonly string[] {
  if (login === undefined) return []
  if (first === undefined) return [`It asks for a ${login === 'jwt' ? 'JWT' : 'token'}: set SLUICE_TOKEN.`]
  const more = others.length === 0 ? [] : [`Those of the other tenants lie beside it: ${others.join(', ')}.`]
  return [`It asks for a token, and the first one lies in ${first}: export SLUICE_TOKEN=$(cat ${first})`, ...more]
}

function readPort(text: string): number {
  const port = /^\d{1,5}$/.test(text) ? Number(text) : Number.NaN
  if (port <= 65_535) return port
  throw new InvalidArgumentError('A port is a whole number from 0 to 65535.')
}
