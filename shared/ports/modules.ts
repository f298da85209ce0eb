/**
 * The code a project brings along: modules beside its sluice.yaml, known by their path relative to that folder as documents
 * write it (`./gates/no-competitors.ts`). Read as they are now; what a run uses is kept by the run itself.
 */
export interface Modules {
  /** The gate of that path, ready for the isolate. Says why where there is none, or none that can be used. */
  gate(path: string): Promise<FoundModule>
}

export type FoundModule =
  | {
      readonly ok: true
      /** A script that does not import anything. */
      readonly text: string
      /** Hex sha256 of the text: its version. */
      readonly hash: string
    }
  | {
      readonly ok: false
      readonly code: 'gate_module_missing' | 'bad_gate_module'
      /** Goes on from the place in the document. */
      readonly text: string
      readonly hint?: string | undefined
    }
