import { openTestPlace } from '../test-place.ts'
import { PROBE } from './places-suite.ts'
import { type OpenSafe, SILENT } from './safety-place.ts'

export const openOnSqlite: OpenSafe = (safety, more = {}) =>
  openTestPlace({ providers: PROBE, log: SILENT, ...more }, { safety })
