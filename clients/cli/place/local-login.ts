import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** What opens a place of this user's, at the one address it was made for (docs/tokens.md, "A login made at the start"). */
export interface LocalLogin {
  readonly url: string
  readonly secret: string
}

const DEFAULT_URL = 'http://127.0.0.1:4040'

const HERE = /^http:\/\/(?:127\.0\.0\.1|localhost)(?::(\d+))?$/

/** Whether an address is one of this machine, and of no path below a server. */
export function isLocalUrl(url: string): boolean {
  return HERE.test(url)
}

/** Of the place that listens there, if it is of the folder this command stands in and asks for a login. */
export async function findLogin(given: string = DEFAULT_URL): Promise<LocalLogin | undefined> {
  const url = given.replace(/\/+$/, '')
  return isLocalUrl(url) ? readLogin(await dataFolder(), url) : undefined
}

/** Of the place that listens there, whose data folder is known. */
export function readLogin(dataDir: string, url: string): LocalLogin | undefined {
  const port = HERE.exec(url)?.[1] ?? '80'
  const secret = readIfMine(join(dataDir, `login-${port}`))
  return secret === undefined ? undefined : { url, secret }
}

/** Most settings name no folder: then nothing of what reads them is loaded. */
async function dataFolder(): Promise<string> {
  const named = readIfMine('sluice.yaml')?.includes('data_dir') === true
  return named ? (await import('../documents/settings-file.ts')).settingsOrDefaults().data_dir : '.sluice'
}

/** A data folder of somebody else's is closed, and so is none of ours. */
function readIfMine(file: string): string | undefined {
  try {
    return existsSync(file) ? readFileSync(file, 'utf8').trim() : undefined
  } catch {
    return undefined
  }
}
