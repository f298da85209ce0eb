/** Whether two sides are alike, by sign and word; `words` say how much they differ. */
export function Sign({ isSame, words }: { readonly isSame: boolean; readonly words?: string | undefined }) {
  return (
    <span class={isSame ? 'sign-word soft' : 'sign-word tone-text-warn'}>
      <span aria-hidden="true">{isSame ? '=' : '≠'}</span> {words ?? (isSame ? 'same' : 'different')}
    </span>
  )
}
