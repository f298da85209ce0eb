import type { Documents } from '../../shared/world.ts'
import type { Core } from './core.ts'

/** The Documents port on AWS: what was deployed. The package's examples are among them or nowhere. */
export function openDocuments({ deployed }: Pick<Core, 'deployed'>): Documents {
  return {
    names: () => Object.keys(deployed).sort(),
    read: async (name) => (Object.hasOwn(deployed, name) ? deployed[name]?.document : undefined),
  }
}
