import type { TestProject } from 'vitest/node'
import { synthesize } from '../integration/aws/synthesized.ts'

declare module 'vitest' {
  interface ProvidedContext {
    /** Folder of the cloud assembly: templates and assets. */
    assembly: string
  }
}

/** Vitest's global setup of project `aws`: one synthesis for all files; returns how to remove it. */
export async function setup(project: TestProject): Promise<() => void> {
  const made = await synthesize()
  project.provide('assembly', made.out)
  return () => made.remove()
}
