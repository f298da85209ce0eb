import { useState } from 'preact/hooks'
import { bytesWords } from './amount-words.ts'
import { type FoldAt, foldText, textPieces } from './text-pieces.ts'

/** A text as it was written, wrapped, folded where it is long. Never HTML: Markdown is shown as its source. */
export function TextValue({ text, foldAt = PAGE }: { readonly text: string; readonly foldAt?: FoldAt }) {
  const [isWhole, setWhole] = useState(false)
  const { shown, hidden } = foldText(text, foldAt)
  return (
    <div class="value-text">
      <div class="wrapped">
        {textPieces(isWhole ? text : shown).map((piece, index) => (
          // The place is what a piece is: they are cut anew from the same text.
          <div key={index} class="piece" style={{ containIntrinsicBlockSize: `auto ${heightOf(piece)}em` }}>
            {piece}
          </div>
        ))}
      </div>
      {hidden > 0 && (
        <button type="button" class="quiet" onClick={() => setWhole(!isWhole)} aria-expanded={isWhole}>
          {isWhole ? 'Show less' : `Show all (${bytesWords(hidden)} more)`}
        </button>
      )}
    </div>
  )
}

const PAGE: FoldAt = { lines: 30, characters: 4_096 }

/** About, of lines of a hundred characters: how far the scroll bar jumps before a piece was laid out. */
function heightOf(piece: string): number {
  const lines = piece.split('\n').reduce((sum, line) => sum + Math.max(1, Math.ceil(line.length / 100)), 0)
  return lines * 1.5
}
