/** Whether a question is about gates that failed: the yes to it is a waiver and is called so (docs/gates.md, "Asking a person"). */
export function asksWaiver({ about }: { readonly about?: string | undefined }): boolean {
  return about === 'pre_gates' || about === 'post_gates'
}
