#pragma once

// Attributes of ops. An op's attributes are a plain struct with a list of its fields:
//
//   struct SoftmaxAttrs {
//     int64_t axis = -1;
//     static auto fields() {
//       return std::tuple{attr("axis", &SoftmaxAttrs::axis, "the axis that sums to 1")};
//     }
//   };
//
// From the list come printing, equality, hashing, JSON and Python keywords. The struct must be
// trivially copyable: the tape keeps its bytes.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <tuple>
#include <type_traits>
#include <vector>

#include <thalweg/tensor/dtype.h>
#include <thalweg/tensor/shape.h>

namespace thalweg {

enum class AttrType : uint8_t { boolean, i64, u64, f64, dims, dtype, enumeration };

/// One field of an attribute struct, found by its offset.
struct AttrField {
  const char* name;
  const char* doc;
  AttrType type;
  size_t offset;
  std::span<const char* const> choices;  // names of an enumeration's values, from 0
};

/// What is known of an attribute struct at run time.
struct AttrInfo {
  size_t bytes = 0;
  std::vector<AttrField> fields;
  const void* defaults = nullptr;
};

template <typename Struct, typename Member>
struct AttrMember {
  const char* name;
  Member Struct::*member;
  const char* doc;
  std::span<const char* const> choices;
};

/// One entry of fields(). `choices` are the names of an enumeration's values (one byte wide).
template <typename Struct, typename Member>
constexpr AttrMember<Struct, Member> attr(const char* name, Member Struct::*member, const char* doc,
                                          std::span<const char* const> choices = {}) {
  return {name, member, doc, choices};
}

struct NoAttrs {
  static auto fields() { return std::tuple{}; }
};

namespace detail {
template <typename Member>
constexpr AttrType attr_type() {
  if constexpr (std::is_same_v<Member, bool>)
    return AttrType::boolean;
  else if constexpr (std::is_same_v<Member, int64_t>)
    return AttrType::i64;
  else if constexpr (std::is_same_v<Member, uint64_t>)
    return AttrType::u64;
  else if constexpr (std::is_same_v<Member, double>)
    return AttrType::f64;
  else if constexpr (std::is_same_v<Member, Dims>)
    return AttrType::dims;
  else if constexpr (std::is_same_v<Member, DType>)
    return AttrType::dtype;
  else {
    static_assert(std::is_enum_v<Member> && sizeof(Member) == 1, "no attribute type");
    return AttrType::enumeration;
  }
}
}  // namespace detail

/// The run-time description of an attribute struct, made once.
template <typename A>
const AttrInfo& attr_info() {
  static_assert(std::is_trivially_copyable_v<A>);
  static const A defaults{};
  static const AttrInfo info = [] {
    AttrInfo i{std::is_empty_v<A> ? 0 : sizeof(A), {}, &defaults};
    std::apply(
        [&]<typename... Member>(const AttrMember<A, Member>&... m) {
          (i.fields.push_back(
               {m.name, m.doc, detail::attr_type<Member>(),
                static_cast<size_t>(reinterpret_cast<const char*>(&(defaults.*(m.member))) -
                                    reinterpret_cast<const char*>(&defaults)),
                m.choices}),
           ...);
        },
        A::fields());
    return i;
  }();
  return info;
}

/// "axis=-1, keepdims=false".
THALWEG_API std::string to_string(const AttrInfo& info, const void* attrs);
THALWEG_API bool equal(const AttrInfo& info, const void* a, const void* b);
THALWEG_API uint64_t hash(const AttrInfo& info, const void* attrs);

}  // namespace thalweg
