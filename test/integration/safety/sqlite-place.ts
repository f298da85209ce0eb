import { openTestPlace } from '../test-place.ts'
import { type OpenSafe, probe, SILENT } from './safety-place.ts'

export const openOnSqlite: OpenSafe = (safety, more = {}) =>
  openTestPlace({ providers: probe(more.clock), log: SILENT, ...more }, { safety })
