import type { Modules } from '../../shared/ports/modules.ts'
import { didYouMean, suggest } from '../../shared/text/wording.ts'
import type { Documents } from '../../shared/world.ts'
import type { Core } from './core.ts'

/** The Documents port on AWS: what was deployed. The package's examples are among them or nowhere. */
export function openDocuments({ deployed }: Pick<Core, 'deployed'>): Documents {
  return {
    names: () => Object.keys(deployed).sort(),
    read: async (name) => (Object.hasOwn(deployed, name) ? deployed[name]?.document : undefined),
  }
}

/** The Modules port on AWS: the gates that deployed documents and settings named when they were deployed. */
export function openModules({ gates }: Pick<Core, 'gates'>): Modules {
  return {
    async gate(path) {
      const found = Object.hasOwn(gates, path) ? gates[path] : undefined
      if (found !== undefined) return { ok: true, ...found }
      const text =
        'was not deployed: a stage has the gates that its documents and its settings named when it was deployed'
      return { ok: false, code: 'gate_module_missing', text, hint: didYouMean(suggest(path, Object.keys(gates))) }
    },
  }
}
