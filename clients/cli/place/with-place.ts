import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Target } from '../server/api.ts'
import { type ExitCode, Refused } from '../terminal/refused.ts'
import { readLogin } from './local-login.ts'
import { type LocalPlace, type PlaceOptions, startPlace } from './local-place.ts'

interface OpenPlace {
  readonly target: Target
  readonly dataDir: string
  /** Aborted by Ctrl-C, and when the place ends by itself. */
  readonly signal: AbortSignal
}

/**
 * Runs the local place as long as `use` takes, then stops it cleanly. What runs have done stays in the data folder. Nobody
 * but this command and its user's others calls it, unless `login: false` says that people come from elsewhere.
 */
export async function withPlace<T>(options: PlaceOptions, use: (place: OpenPlace) => Promise<T>): Promise<T> {
  const place = await startPlace({ login: true, inside: true, ...options })
  const { url, dataDir } = place
  const stopped = new AbortController()
  const kept = `What the run has done is kept in ${dataDir}: \`sluice start\` with that data folder goes on with it.`
  const stop = (code: string, why: string, exitCode: ExitCode = 1) =>
    stopped.abort(new Refused({ code, detail: `${why} ${kept}` }, { exitCode }))
  const interrupt = (signal: NodeJS.Signals) => stop('interrupted', 'Stopped here.', signal === 'SIGINT' ? 130 : 1)
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const
  for (const signal of signals) process.on(signal, interrupt)
  void place.ended.then((code) => stop('place_died', `The local place ended by itself with code ${code}.`))
  try {
    return await use({ target: { url, named: true, ...tokenOf(dataDir, url) }, dataDir, signal: stopped.signal })
  } catch (error) {
    throw withLog(error, place)
  } finally {
    await place.stop()
    for (const signal of signals) process.off(signal, interrupt)
  }
}

/** What the start made, or where settings ask for a login the first token, for who owns the folder (docs/tokens.md). */
function tokenOf(dataDir: string, url: string): Pick<Target, 'token' | 'login'> {
  const made = readLogin(dataDir, url)
  if (made !== undefined) return { token: made.secret, login: true }
  const file = join(dataDir, 'first-token')
  return existsSync(file) ? { token: readFileSync(file, 'utf8').trim() } : {}
}

/** "The log has the details": nobody else can see the log of a place that ran inside a command. */
function withLog(error: unknown, place: LocalPlace): unknown {
  if (!(error instanceof Refused) || (error.status ?? 0) < 500) return error
  const { code, detail } = error.reason
  return new Refused(
    { code, detail: `${detail}\nThe log of the place:\n${place.lastWords().trimEnd()}` },
    { cause: error },
  )
}
