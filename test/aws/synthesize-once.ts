import type { TestProject } from 'vitest/node'
import { readStageSettings } from '../../infra/aws/stage-settings.ts'
import { ROOT } from '../integration/aws/assembly.ts'
import { synthesize } from '../integration/aws/synthesized.ts'

declare module 'vitest' {
  interface ProvidedContext {
    /** Folder of the cloud assembly: templates and assets. */
    assembly: string
  }
}

/** Vitest's global setup of project `aws`: one synthesis for all files; returns how to remove it. */
export async function setup(project: TestProject): Promise<() => void> {
  // Files that ask a stage in somebody's account (shipped-stack.ts) deploy nothing.
  if (process.env.SLUICE_AGAINST !== undefined) return () => {}
  const { safety, ...shipped } = readStageSettings(ROOT, { stage: 'dev' })
  // Many runs at once are one caller here.
  const made = await synthesize({}, { ...shipped, safety: { ...safety, max_runs: 500, max_requests_per_min: 10_000 } })
  project.provide('assembly', made.out)
  return () => made.remove()
}
