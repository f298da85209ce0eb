import * as z from 'zod'
import { problemOf } from '../../shared/api/problem.ts'
import { Fault } from '../../shared/errors.ts'
import { type ProjectProblem, ProjectProblemSchema } from '../../shared/ports/health.ts'
import { createLog } from './clock-and-log.ts'
import { firstTokenFiles } from './login.ts'
import { openPlace, type Place } from './place.ts'
import { readSettings } from './settings.ts'

/**
 * The process `sluice start` runs: `node infra/local/main.ts [--port N] [--data-dir DIR] [--inputs-dir DIR]
 * [--example] [--login] [--reads] [--inside]`. It prints ONE JSON line when it serves: {"ready":true,"url","pid","data_dir"}, where callers need
 * tokens also "login" and "first_tokens", their files, and with --login "console_url" and "login_file"; or, with exit code
 * 1, {"ready":false,"error":{"code","message"}}. SIGINT and SIGTERM end it cleanly, a second one at once;
 * so does the end of a parent that gave it a channel, however that ended: no port and folder are held for nobody.
 */
async function main(): Promise<void> {
  // Files of the data folder, those of SQLite and the index too, are their owner's alone.
  process.umask(0o077)
  const read = readSettings(process.argv.slice(2), process.env, process.cwd())
  const { settings, verbose, ...options } = read
  const project = hearOfProject()
  const place = await openPlace(settings, { ...options, listen: true, log: createLog(verbose), project })
  stopOnSignal(place)
  const { data_dir } = settings
  const auth = options.reads ? undefined : settings.auth
  const secret = place.opened === undefined ? {} : { login: 'secret' }
  const login = auth === undefined ? secret : { login: auth.mode, first_tokens: firstTokenFiles(settings) }
  say({ ready: true, url: place.url, pid: process.pid, data_dir, ...login, ...place.opened })
}

/** A parent that watches the files of a project tells over its channel what is wrong with them. */
function hearOfProject(): () => readonly ProjectProblem[] | undefined {
  let told: readonly ProjectProblem[] | undefined
  process.on('message', (message) => {
    told = MessageSchema.safeParse(message).data?.project ?? told
  })
  return () => told
}

const MessageSchema = z.strictObject({ project: z.array(ProjectProblemSchema) })

function stopOnSignal(place: Place): void {
  let stopping = false
  const stop = () => {
    if (stopping) process.exit(130)
    stopping = true
    place.close().then(
      () => process.exit(0),
      (error: unknown) => fail(error),
    )
  }
  process.on('SIGINT', stop)
  process.on('SIGTERM', stop)
  process.once('disconnect', stop)
  // Listening alone must not keep a finished process alive.
  process.channel?.unref()
}

function say(line: Readonly<Record<string, unknown>>, then = () => {}): void {
  process.stdout.write(`${JSON.stringify(line)}\n`, then)
}

/** What the person at the keyboard reads: on this side of the wire a Bug may say what it is. */
function fail(error: unknown): void {
  const code = error instanceof Fault ? error.code : problemOf(error).code
  const message = error instanceof Error ? error.message : String(error)
  const issues = error instanceof Fault && error.issues.length > 0 ? { errors: error.issues } : {}
  say({ ready: false, error: { code, message, ...issues } }, () => process.exit(1))
}

main().catch(fail)
