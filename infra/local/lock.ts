import { closeSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { Fault } from '../../shared/errors.ts'
import { storeFault } from './store-fault.ts'

/**
 * One process a data folder. `lock` is an empty SQLite file held with an exclusive lock of the operating system: it
 * goes away with the process however that ends, so there is no stale lock to judge and a reused pid deceives nobody.
 * `lock.pid` beside it only names the holder for the refusal (Fault Conflict folder_in_use). Answers the release. Another
 * file in its place is a Fault of the store: not_our_database, store_unavailable.
 */
export function lockFolder(dataDir: string): () => void {
  const file = join(dataDir, 'lock')
  const pidFile = join(dataDir, 'lock.pid')
  const lock = locked(file, (cause) => inUse(dataDir, pidFile, cause))
  writeFileSync(pidFile, String(process.pid), { mode: 0o600 })
  return () => {
    rmSync(pidFile, { force: true })
    lock.close()
  }
}

function locked(file: string, inUse: (cause: unknown) => Fault): DatabaseSync {
  let lock: DatabaseSync | undefined
  try {
    closeSync(openSync(file, 'a', 0o600))
    lock = new DatabaseSync(file)
    lock.exec('PRAGMA busy_timeout = 0; PRAGMA journal_mode = OFF; BEGIN EXCLUSIVE')
    return lock
  } catch (cause) {
    lock?.close()
    const fault = storeFault(cause, `lock "${file}"`)
    throw fault.code === 'store_busy' ? inUse(cause) : fault
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
