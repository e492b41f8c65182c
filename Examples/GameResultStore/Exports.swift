// Results and share texts are the vocabulary of the store.
@_exported public import ShareTexts
