import { createIsolate } from '../../functions/isolate/isolate-pool.ts'
import { moduleChecksIn, type ProjectGates, readProjectGates } from '../../shared/gates/project-gates.ts'
import { folderModules } from './project-gates.ts'

/** The gates of a project that something names, asked in an isolate of their own: for who has no place at hand. */
export async function askGates(root: string, given: unknown): Promise<ProjectGates> {
  // Most name none: no child is started for them.
  if (moduleChecksIn(given).length === 0) return { modules: new Map(), answers: new Map() }
  const isolate = createIsolate()
  try {
    return await readProjectGates(given, folderModules(root), isolate)
  } finally {
    await isolate.close()
  }
}
