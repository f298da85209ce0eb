import type { ComponentChildren } from 'preact'

/** One part of the inspector under its own heading. */
export function InspectorPart({ title, children }: { readonly title: string; readonly children: ComponentChildren }) {
  return (
    <section class="inspector-part">
      <h3>{title}</h3>
      {children}
    </section>
  )
}
