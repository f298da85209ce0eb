import { join } from 'node:path'
import { readIfMine } from './project-place.ts'

/** What opens a place of this user's, at the one address it was made for (docs/tokens.md, "A login made at the start"). */
export interface LocalLogin {
  readonly url: string
  readonly secret: string
}

/** A data folder that one command looks at, since no server is open on it; and what opens it. */
export interface ReadingPlace extends LocalLogin {
  close(): Promise<void>
}

const HERE = /^http:\/\/(?:127\.0\.0\.1|localhost)(?::(\d+))?$/

/** Whether an address is one of this machine, and of no path below a server. */
export function isLocalUrl(url: string): boolean {
  return HERE.test(url)
}

/** Of the place that listens there, if it is of the project this command stands in and asks for a login. */
export function findLogin(given: string, dataDir: string): LocalLogin | undefined {
  const url = given.replace(/\/+$/, '')
  return isLocalUrl(url) ? readLogin(dataDir, url) : undefined
}

/** Of the place that listens there, whose data folder is known. */
export function readLogin(dataDir: string, url: string): LocalLogin | undefined {
  const port = HERE.exec(url)?.[1] ?? '80'
  const secret = readIfMine(join(dataDir, `login-${port}`))
  return secret === undefined ? undefined : { url, secret }
}
