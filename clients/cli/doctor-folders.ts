import { accessSync, constants, existsSync, readFileSync, statfsSync, statSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import type { Settings } from '../../shared/settings.ts'
import { type Check, check } from './check.ts'
import { checkFile, filesToCheck } from './check-files.ts'
import { storeChecks } from './doctor-store.ts'
import { Refused } from './refused.ts'
import { count, sizeWords } from './words.ts'

/** The data folder, the inputs folder and the documents here. Unknown settings: there is nothing to look for. */
export function folderChecks(settings: Settings | undefined): readonly Check[] {
  if (settings === undefined) return []
  return [
    dataCheck(settings.data_dir),
    ...storeChecks(settings.data_dir),
    inputsCheck(settings.inputs_dir),
    documentsCheck(),
  ]
}

/** Below it the next run may end for want of room. */
const LEAST_FREE = 200 * 1_048_576

function dataCheck(dataDir: string): Check {
  const name = 'data folder'
  const there = existsSync(dataDir)
  if (there && !statSync(dataDir).isDirectory())
    return check.failed(name, `${dataDir} is a file`, 'move it away, or name another folder with data_dir')
  // What is not there yet is made by the first run, in the nearest folder above it that is.
  const where = there ? dataDir : nearestFolder(resolve(dataDir))
  if (!isWritable(where))
    return check.failed(
      name,
      `${where} cannot be written to`,
      'change its owner or mode, or name another with data_dir',
    )
  const { bavail, bsize } = statfsSync(where)
  const free = sizeWords(bavail * bsize)
  if (bavail * bsize < LEAST_FREE) return check.warning(name, `only ${free} free on its disk`, 'make room')
  const holder = holderOf(dataDir)
  const used = holder === undefined ? 'nobody uses it' : `process ${holder} uses it`
  return check.ok(name, there ? `${dataDir} is writable, ${used}, ${free} free` : `${dataDir} is made by the first run`)
}

function nearestFolder(path: string): string {
  return existsSync(path) || dirname(path) === path ? path : nearestFolder(dirname(path))
}

function isWritable(path: string): boolean {
  try {
    accessSync(path, constants.W_OK | constants.X_OK)
    return true
  } catch {
    return false
  }
}

/** The place names itself beside its lock; the lock itself goes away with the process. */
function holderOf(dataDir: string): number | undefined {
  try {
    const pid = Number(readFileSync(join(dataDir, 'lock.pid'), 'utf8'))
    process.kill(pid, 0)
    return pid
  } catch {
    return undefined
  }
}

function inputsCheck(inputsDir: string): Check {
  if (existsSync(inputsDir)) return check.ok('inputs', `${inputsDir} is there: runs may read files from it`)
  return check.skipped('inputs', `there is no ${inputsDir}: runs can read no file`)
}

function documentsCheck(): Check {
  const files = filesToCheck().filter((file) => !file.endsWith('sluice.yaml'))
  if (files.length === 0) return check.skipped('documents', 'none here; `sluice init` writes one')
  const wrong = files.filter((file) => !isValid(file))
  if (wrong.length === 0) return check.ok('documents', `${count(files.length, 'document')}, all valid`)
  return check.failed('documents', `with errors: ${wrong.join(', ')}`, '`sluice validate` tells each with its place')
}

function isValid(file: string): boolean {
  try {
    return checkFile(file).valid
  } catch (error) {
    if (error instanceof Refused) return false
    throw error
  }
}
