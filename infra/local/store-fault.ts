import { Fault, type FaultName } from '../../shared/errors.ts'

/**
 * What a failed SQLite call means to a caller: a Fault as it is, an error of SQLite by its primary result code
 * (sqlite.org/rescode.html), anything else Bug. `doing` continues "Cannot ..".
 */
export function storeFault(cause: unknown, doing: string): Fault {
  if (cause instanceof Fault) return cause
  const [name, code, advice] = MEANINGS[resultCode(cause)] ?? ['Bug', 'store_error', 'Please report it.']
  const seen = cause instanceof Error ? cause.message : String(cause)
  return new Fault(name, code, `Cannot ${doing}: ${seen}. ${advice}`, { cause })
}

type Meaning = readonly [name: FaultName, code: string, advice: string]

const BUSY: Meaning = ['Unavailable', 'store_busy', 'Another program holds the file: close it and try again.']
const DISK: Meaning = ['Unavailable', 'store_unavailable', 'Check the disk, its free space and the rights on the file.']
const DAMAGED: Meaning = ['Bug', 'database_corrupt', 'The file is damaged: restore it from a copy, or move it away.']
const FOREIGN: Meaning = ['InvalidInput', 'not_our_database', 'It is no SQLite file: move it away.']

const MEANINGS: Readonly<Record<number, Meaning>> = {
  5: BUSY,
  6: BUSY,
  8: DISK,
  10: DISK,
  11: DAMAGED,
  13: DISK,
  14: DISK,
  26: FOREIGN,
}

/** Low byte of SQLite's code; a failed mkdir of the folder counts as "cannot open"; -1 = not about the store. */
function resultCode(cause: unknown): number {
  if (typeof cause !== 'object' || cause === null) return -1
  if ('errcode' in cause && typeof cause.errcode === 'number') return cause.errcode & 0xff
  return 'syscall' in cause ? 14 : -1
}
