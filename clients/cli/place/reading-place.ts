import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { pingServer, type Target } from '../server/api.ts'
import { Refused } from '../terminal/refused.ts'
import type { Session } from '../terminal/session.ts'
import { type ReadingPlace, readLogin } from './local-login.ts'
import { startPlace } from './local-place.ts'
import type { ProjectPlace } from './project-place.ts'

/**
 * For a command that only reads: where no server of this project answers, its data folder is opened as it is, and no run in
 * it goes on. Undefined: a server is there, or no folder. Refused folder_in_use: somebody holds it and answers nobody.
 */
export async function openReadingPlace(
  session: Session,
  target: Target,
  { dataDir }: ProjectPlace,
): Promise<ReadingPlace | undefined> {
  if (!existsSync(join(dataDir, 'sluice.db'))) return undefined
  const answer = await pingServer(target)
  // Who is refused there, or finds it ill, is told so by what the command asks.
  if (answer === 'answers' || answer.status !== undefined) return undefined
  const place = await startPlace({ port: 0, login: true, reads: true, logs: session.settings.logs }).catch(
    (error: unknown) => {
      throw error instanceof Refused && error.reason.code === 'folder_in_use' ? heldSilently(error, target) : error
    },
  )
  // Its start wrote it there.
  const { url, secret } = readLogin(place.dataDir, place.url) ?? { url: place.url, secret: '' }
  return { url, secret, close: () => place.stop() }
}

function heldSilently(error: Refused, { url }: Target): Refused {
  const detail = `${error.reason.detail} No server answers at ${url} either, so its runs cannot be read through one.`
  return new Refused({ code: 'folder_in_use', detail }, { cause: error })
}
