#pragma once

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// The C face of the Rust crates that tokenise and render chat templates. Every call is total: a
// panic inside comes back as PL_INTERNAL. Handles are immutable after creation and may be used from
// any thread.

/// Borrowed bytes; data may be null when size is 0.
typedef struct PlBytes {
  const char* data;
  size_t size;
} PlBytes;

/// Bytes owned by the bridge: pl_buffer_free.
typedef struct PlBuffer {
  char* data;
  size_t size;
  size_t capacity;
} PlBuffer;

/// Ids owned by the bridge: pl_ids_free.
typedef struct PlIds {
  int32_t* data;
  size_t size;
  size_t capacity;
} PlIds;

/// When it is not PL_OK, the call filled its `error` buffer with a text.
typedef enum PlStatus {
  PL_OK = 0,
  PL_BAD_ARGUMENT = 1,  ///< the text to encode or the JSON to render with
  PL_BAD_DATA = 2,      ///< the tokenizer file or vocabulary
  PL_UNSUPPORTED = 3,   ///< well formed, but of a kind the bridge does not have
  PL_TEMPLATE = 4,      ///< the template failed to parse or to render
  PL_INTERNAL = 5,
} PlStatus;

/// GGUF token types.
enum {
  PL_NORMAL = 1,
  PL_UNKNOWN = 2,
  PL_CONTROL = 3,
  PL_USER_DEFINED = 4,
  PL_UNUSED = 5,
  PL_BYTE = 6,
};

/// How ids turn into bytes.
enum {
  PL_DECODE_BYTE_LEVEL = 0,     ///< the byte alphabet of GPT-2
  PL_DECODE_SENTENCEPIECE = 1,  ///< U+2581 is a space, <0xNN> a byte
};

/// A byte-pair vocabulary out of a GGUF file.
typedef struct PlVocab {
  const PlBytes* tokens;
  const uint8_t* types;  ///< one per token
  size_t token_count;
  const PlBytes* merges;  ///< "left right", best first
  size_t merge_count;
  const double* scores;   ///< one per token, instead of merges; may be null
  const PlBytes* splits;  ///< regular expressions, each applied to the pieces of the one before
  size_t split_count;
  int32_t unknown;  ///< id or -1
  uint8_t
      byte_level;  ///< the byte alphabet of GPT-2; otherwise UTF-8 with <0xNN> for what is missing
  uint8_t escape_spaces;  ///< a space becomes U+2581
  uint8_t prefix_space;   ///< a space goes before the text and after every added token
  uint8_t ignore_merges;  ///< a piece that is a token needs no merges
} PlVocab;

typedef struct PlTokenizer PlTokenizer;
typedef struct PlTemplate PlTemplate;

typedef enum PlMode {
  PL_PLAIN = 0,    ///< control tokens never match
  PL_PARSE = 1,    ///< every added token matches
  PL_GUARDED = 2,  ///< control tokens match, then U+FDD0 is removed
} PlMode;

void pl_buffer_free(PlBuffer buffer);
void pl_ids_free(PlIds ids);

PlStatus pl_tokenizer_from_json(PlBytes json, PlTokenizer** out, PlBuffer* error);
PlStatus pl_tokenizer_from_vocab(const PlVocab* vocab, PlTokenizer** out, PlBuffer* error);
void pl_tokenizer_free(PlTokenizer* tokenizer);
PlStatus pl_tokenizer_encode(const PlTokenizer* tokenizer, PlBytes text, PlMode mode, PlIds* out,
                             PlBuffer* error);
/// Puts U+FDD0 behind the first character of every control-token literal.
PlStatus pl_tokenizer_guard(const PlTokenizer* tokenizer, PlBytes text, PlBuffer* out,
                            PlBuffer* error);

/// The rest describes a tokenizer that came from JSON.
size_t pl_tokenizer_size(const PlTokenizer* tokenizer);
/// Literal and type (0: no such token) of one id.
PlStatus pl_tokenizer_token(const PlTokenizer* tokenizer, uint32_t id, PlBuffer* literal,
                            uint8_t* type, PlBuffer* error);
int pl_tokenizer_decode_kind(const PlTokenizer* tokenizer);
int pl_tokenizer_strips_leading_space(const PlTokenizer* tokenizer);
/// The special token that the post-processor puts in front of a text, or -1.
int32_t pl_tokenizer_leading_special(const PlTokenizer* tokenizer);

/// What a template is rendered with: JSON texts, empty for none.
typedef struct PlRender {
  PlBytes messages;
  PlBytes tools;
  PlBytes extra;
  PlBytes bos_token;
  PlBytes eos_token;
  int64_t unix_time;
  uint8_t add_generation_prompt;
} PlRender;

PlStatus pl_template_compile(PlBytes source, PlTemplate** out, PlBuffer* error);
void pl_template_free(PlTemplate* compiled);
PlStatus pl_template_render(const PlTemplate* compiled, const PlRender* input, PlBuffer* out,
                            PlBuffer* error);

#ifdef __cplusplus
}
#endif
