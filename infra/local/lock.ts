import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { Fault } from '../../shared/errors.ts'

/**
 * One process a data folder. `lock` is an empty SQLite file held with an exclusive lock of the operating system: it
 * goes away with the process however that ends, so there is no stale lock to judge and a reused pid deceives nobody.
 * `lock.pid` beside it only names the holder for the refusal (Fault Conflict folder_in_use). Answers the release.
 */
export function lockFolder(dataDir: string): () => void {
  const lock = new DatabaseSync(join(dataDir, 'lock'))
  const pidFile = join(dataDir, 'lock.pid')
  try {
    lock.exec('PRAGMA busy_timeout = 0; PRAGMA journal_mode = OFF; BEGIN EXCLUSIVE')
  } catch (cause) {
    lock.close()
    throw inUse(dataDir, pidFile, cause)
  }
  writeFileSync(pidFile, String(process.pid))
  return () => {
    rmSync(pidFile, { force: true })
    lock.close()
  }
}

function inUse(dataDir: string, pidFile: string, cause: unknown): Fault {
  const pid = holderOf(pidFile)
  const holder = pid === undefined ? 'another process' : `process ${pid}`
  const message = `Cannot use data folder "${dataDir}": ${holder} is using it. Stop that process, or choose another folder with --data-dir.`
  return new Fault('Conflict', 'folder_in_use', message, { facts: pid === undefined ? {} : { pid }, cause })
}

/** The file is written just after the lock is taken: for that moment the holder has no name. */
function holderOf(pidFile: string): number | undefined {
  try {
    const pid = Number(readFileSync(pidFile, 'utf8'))
    return Number.isInteger(pid) && pid > 0 ? pid : undefined
  } catch {
    return undefined
  }
}
