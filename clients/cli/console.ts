import { type Command, Option } from 'commander'
import { loginUrl } from '../../shared/api/page-login.ts'
import { chooseTarget, type Target } from './api.ts'
import { openConsoleFiles } from './console-files.ts'
import { openConsoleProxy } from './console-proxy.ts'
import { jsonText } from './json-text.ts'
import { isHere } from './local-login.ts'
import { openBrowser } from './open-browser.ts'
import { reasonLines } from './reason-lines.ts'
import { Refused } from './refused.ts'
import { knock } from './server-there.ts'
import type { Session } from './session.ts'
import { type TargetOptions, withTarget } from './target-options.ts'
import { wholeNumber } from './whole-number.ts'

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
  withTarget(command)
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
  const page = target.sign === undefined && isHere(target.url) ? await ownPage(target) : undefined
  if (page === undefined) await serveDeployment(session, target, options)
  else await sayAddress(session, page, 'Console', options)
}

/**
 * The page a place here serves by itself, with what its start made where it asks for that. Undefined: a token opens it,
 * which no page gets to see. Refused no_server, or as the place refuses who has none.
 */
async function ownPage(target: Target): Promise<string | undefined> {
  const { url, named, token, login } = target
  if ((await knock({ url, named })) === 'answers') return `${url}/`
  const answer = await knock(target)
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
