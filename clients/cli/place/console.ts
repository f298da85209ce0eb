import { spawn } from 'node:child_process'
import { existsSync, mkdtempSync, writeFileSync } from 'node:fs'
import { readdir, readFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, relative, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'
import { type Command, Option } from 'commander'
import { loginUrl } from '../../../shared/console/local-access.ts'
import { type ConsoleFile, serveConsole } from '../../../shared/console/serve-console.ts'
import { chooseTarget, pingServer, type Target } from '../server/api.ts'
import { type TargetOptions, wholeNumber, withTargetOptions } from '../terminal/options.ts'
import { Refused, reasonLines } from '../terminal/refused.ts'
import type { Session } from '../terminal/session.ts'
import { jsonText } from '../terminal/text.ts'
import { openConsoleProxy } from './console-proxy.ts'
import { isLocalUrl } from './local-login.ts'

interface ConsoleOptions extends TargetOptions {
  readonly port: number
  readonly open?: true
}

/** Beside the local place (4040) and the console's dev server (4041). */
const PORT = 4_042

/** `sluice console`: the page of the local place, or of a deployment, through a proxy that signs. */
export function addConsole(parent: Command, session: Session): void {
  const command = parent
    .command('console')
    .description('the console in a browser: of the local place, or of a deployment')
  withTargetOptions(command)
    .addOption(
      new Option('--port <n>', 'where to serve it in front of a deployment, 0 = any free port')
        .argParser(wholeNumber(0, 65_535))
        .default(PORT),
    )
    .option('--open', 'open it in the browser')
    .action((options: ConsoleOptions) => showConsole(session, options))
}

/** A page of a deployment's own would need a login: this one has the rights of whoever runs the command. */
async function showConsole(session: Session, options: ConsoleOptions): Promise<void> {
  const target = chooseTarget(session, options.url)
  const page = target.sign === undefined && isLocalUrl(target.url) ? await ownPage(target) : undefined
  if (page === undefined) await serveDeployment(session, target, options)
  else await sayAddress(session, page, 'Console', options)
}

/**
 * The page a place here serves by itself, with what its start made where it asks for that. Undefined: a token opens it,
 * which no page gets to see. Refused no_server, or as the place refuses who has none.
 */
async function ownPage(target: Target): Promise<string | undefined> {
  const { url, named, token, login } = target
  if ((await pingServer({ url, named })) === 'answers') return `${url}/`
  const answer = await pingServer(target)
  if (answer === 'answers') return login === true && token !== undefined ? loginUrl(url, token) : undefined
  if (answer.status !== undefined) throw answer
  const detail = `No Sluice server answers at ${url}. \`sluice start\` serves the API and the console.`
  throw new Refused({ code: 'no_server', detail }, { cause: answer })
}

async function serveDeployment(session: Session, target: Target, options: ConsoleOptions): Promise<void> {
  const files = await openConsoleFiles()
  let said = ''
  const proxy = await openConsoleProxy({
    port: options.port,
    target,
    files,
    note(problem) {
      // The page asks again and again: once is enough.
      if (said === problem.code) return
      said = problem.code
      for (const line of reasonLines(problem, session.settings.command)) session.warn(line)
    },
  })
  const ended = new Promise((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, resolve)
  })
  await sayAddress(session, proxy.url, `Console of ${target.url}, as you, until Ctrl-C`, options)
  await ended
  await proxy.close()
}

async function sayAddress(session: Session, url: string, what: string, { open, json }: ConsoleOptions): Promise<void> {
  session.say(json === true ? jsonText({ url }) : `${what}: ${url}`)
  if (open === true && !(await openBrowser(url)))
    session.warn('No browser could be opened here: open the address yourself.')
}

/** The console of this package as answers, read once. Refused when it is not built. */
async function openConsoleFiles(): Promise<ReturnType<typeof serveConsole>> {
  const dir = fileURLToPath(new URL('../../../dist/console', import.meta.url))
  if (!existsSync(join(dir, 'index.html'))) {
    const detail = `The console is not built: there is no ${dir}. Run \`npm run build\` in the folder of Sluice.`
    throw new Refused({ code: 'console_not_built', detail })
  }
  return serveConsole(await readFolder(dir), ENCODINGS)
}

async function readFolder(dir: string): Promise<readonly ConsoleFile[]> {
  const entries = await readdir(dir, { recursive: true, withFileTypes: true })
  const files = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name))
  return await Promise.all(
    files.map(async (file) => ({
      path: `/${relative(dir, file).split(sep).join('/')}`,
      bytes: await readFile(file),
    })),
  )
}

const brotli = promisify(brotliCompress)
const gzipped = promisify(gzip)

/** As quick as the browser beside it needs: nothing goes over a wire. */
const ENCODINGS = {
  br: (bytes: Uint8Array) => brotli(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 5 } }),
  gzip: (bytes: Uint8Array) => gzipped(bytes),
}

/** Opens an address in the person's browser; false when this machine has no way to. */
export function openBrowser(url: string): Promise<boolean> {
  const [command, ...args] = OPENERS[process.platform] ?? ['xdg-open']
  const opened = url.includes('?') ? fileThatLeadsTo(url) : url
  return new Promise((resolve) => {
    const child = spawn(command, [...args, opened], { stdio: 'ignore', detached: true })
    child.once('error', () => resolve(false))
    child.once('spawn', () => {
      child.unref()
      resolve(true)
    })
  })
}

/** Everybody on a machine sees the words of a command: an address that holds a secret goes by a file of this user's. */
function fileThatLeadsTo(url: string): string {
  const file = join(mkdtempSync(join(tmpdir(), 'sluice-console-')), 'open.html')
  const page = `<!doctype html><meta charset="utf-8"><title>Sluice</title><meta http-equiv="refresh" content="0;url=${url}">\n`
  writeFileSync(file, page, { mode: 0o600 })
  return file
}

const OPENERS: Partial<Record<NodeJS.Platform, readonly [string, ...string[]]>> = {
  darwin: ['open'],
  win32: ['cmd', '/c', 'start', ''],
}
