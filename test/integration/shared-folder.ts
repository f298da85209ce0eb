import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** Vitest's global setup: a folder for what files of one test run share (once-a-run.ts); returns how to remove it. */
export function setup(): () => void {
  const dir = mkdtempSync(join(tmpdir(), 'sluice-shared-'))
  process.env.SLUICE_TEST_SHARED = dir
  return () => rmSync(dir, { recursive: true, force: true })
}
